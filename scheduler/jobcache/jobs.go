package jobcache

import (
	"context"
	"hash/maphash"
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Jobs caches the definitions that a process uses, so that firing a job reads nothing in the steady state.
// [Jobs.Current] compiles a schedule on first use.
type Jobs struct {
	*Mirror[scheduler.Key, *scheduler.Job]

	// Changed is called with the key of each changed job before the job is read again. It must not block. Set it before
	// Run. Default: none.
	Changed func(scheduler.Key)

	store   scheduler.Jobs
	actions scheduler.ActionReader
	secrets scheduler.Sealer
	shared  Definitions
}

const (
	// jobsKept limits the cached definitions, about 3 KB each. Large schedules count for more.
	jobsKept = 1 << 15

	// costlyWeight is the weight of a schedule that is almost too expensive to compile. It holds several hundred
	// kilobytes.
	costlyWeight = 100

	// jobShards is large enough that another job's change rarely invalidates a load, even at thousands of changes per
	// second.
	jobShards = 1 << 16
)

// NewJobs returns a mirror of the definitions. It does no I/O.
func NewJobs(store scheduler.Jobs, actions scheduler.ActionReader, secrets scheduler.Sealer) *Jobs {
	j := &Jobs{store: store, actions: actions, secrets: secrets}
	j.Mirror = New(Config[scheduler.Key, *scheduler.Job]{
		Watch: func(ctx context.Context, ready func(), changed func(scheduler.Key, uint64, []byte)) error {
			return store.WatchJobs(ctx, ready, func(k scheduler.Key, revision uint64) {
				changed(k, revision, nil)
				if j.Changed != nil {
					j.Changed(k)
				}
			})
		},
		Load: j.read, Revision: func(j *scheduler.Job) uint64 { return j.Revision }, Limit: jobsKept, Shards: jobShards,
		Weight: func(j *scheduler.Job) int {
			if j.Plan == nil {
				return 1
			}
			return 1 + int(costlyWeight*j.Plan.Work())
		},
	})
	return j
}

// Peek returns a job if it is cached and compiled.
func (j *Jobs) Peek(k scheduler.Key) (*scheduler.Job, bool) {
	job, ok := j.Mirror.Peek(k)
	if !ok || job.Plan == nil {
		return nil, false
	}
	return job, true
}

// Uncompiled reports whether a job is cached, but its schedule is not compiled yet.
func (j *Jobs) Uncompiled(k scheduler.Key) bool {
	job, ok := j.Mirror.Peek(k)
	return ok && job.Plan == nil
}

// Current is [Mirror.Current], and compiles the job's schedule if necessary. The error may be a
// [*scheduler.DamagedError].
func (j *Jobs) Current(ctx context.Context, k scheduler.Key, atLeast uint64) (*scheduler.Job, error) {
	before := j.Changes(k)
	job, err := j.Mirror.Current(ctx, k, atLeast)
	if err != nil || job.Plan != nil {
		return job, err
	}
	compiled, err := job.Compiled()
	if err == nil {
		j.Keep(k, compiled, before)
	}
	return compiled, err
}

// Load reads a job from the store and compiles its schedule.
func (j *Jobs) Load(ctx context.Context, k scheduler.Key) (*scheduler.Job, error) {
	job, err := j.read(ctx, k)
	if err != nil {
		return nil, err
	}
	return job.Compiled()
}

func (j *Jobs) read(ctx context.Context, k scheduler.Key) (*scheduler.Job, error) {
	st, err := j.store.LoadJob(ctx, k)
	if err != nil {
		return nil, err
	}
	return j.decode(st)
}

func (j *Jobs) decode(st scheduler.Stored) (*scheduler.Job, error) {
	return scheduler.ReadJobWith(&j.shared, st.Key, st.Revision, st.Data, j.actions, j.secrets)
}

// At returns the job at a revision, or current if the store no longer has that revision.
func (j *Jobs) At(ctx context.Context, revision uint64, current *scheduler.Job) *scheduler.Job {
	if current.Revision == revision {
		return current
	}
	st, err := j.store.LoadJobAt(ctx, current.Key, revision)
	if err != nil || current.SameDefinition(st.Data) {
		return current // deleted, or rewritten for another reason, such as a rotation of its secrets' key
	}
	then, err := j.decode(st)
	if err == nil {
		then, err = then.Compiled()
	}
	if err != nil {
		return current
	}
	return then
}

// Read is a job that [Jobs.Fill] has read.
type Read struct {
	scheduler.Stored

	Job     *scheduler.Job
	Changes uint32 // count of changes before the read, see [Mirror.Unchanged]
}

// Fill reads many jobs in one request and compiles no schedule. Jobs that it cannot read are read on demand. It calls
// take with each job, and does not cache those for which take returns true.
func (j *Jobs) Fill(ctx context.Context, keys []scheduler.Key, take func(Read) bool) {
	before := make(map[scheduler.Key]uint32, len(keys))
	for _, k := range keys {
		before[k] = j.Changes(k)
	}
	for _, st := range j.load(ctx, keys) { // after all have arrived, because the store does not wait for slow readers
		job, err := j.decode(st)
		if err != nil {
			continue
		}
		read := Read{st, job, before[st.Key]}
		if !j.Latest(st.Key, job, read.Changes) || !take(read) {
			j.Keep(st.Key, job, read.Changes)
		}
	}
}

func (j *Jobs) load(ctx context.Context, keys []scheduler.Key) []scheduler.Stored {
	if len(keys) == 1 {
		if st, err := j.store.LoadJob(ctx, keys[0]); err == nil {
			return []scheduler.Stored{st}
		}
		return nil
	}
	stored := make([]scheduler.Stored, 0, len(keys))
	_ = j.store.LoadJobs(ctx, keys, func(st scheduler.Stored) { stored = append(stored, st) })
	return stored
}

// Unpack returns an encoded job that has not changed since.
func (j *Jobs) Unpack(k scheduler.Key, p *scheduler.Packed) (*scheduler.Job, error) {
	if job, ok := j.Peek(k); ok && job.Revision == p.Revision {
		return job, nil
	}
	return j.decode(scheduler.Stored{Key: k, Revision: p.Revision, Data: p.Data})
}

// Definitions shares equal definitions between jobs, such as the jobs of a herd that make the same call. It implements
// [scheduler.DefinitionKeeper]. The zero value is ready for use.
type Definitions struct {
	once sync.Once
	seed maphash.Seed

	mu   sync.Mutex
	kept map[string]*scheduler.Definition
	seen [seenProperties]uint64 // hashes of the properties that were read
}

const (
	// definitionsKept limits the cached definitions, usually about 5 KB each. When the cache is full, it drops all of
	// them.
	definitionsKept = 256

	// seenProperties limits the remembered hashes. A definition is cached when a second job has the same properties.
	seenProperties = 4096
)

// Kept implements [scheduler.DefinitionKeeper].
func (d *Definitions) Kept(properties []byte) *scheduler.Definition {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.kept[string(properties)]
}

// Keep implements [scheduler.DefinitionKeeper].
func (d *Definitions) Keep(properties []byte, def *scheduler.Definition) {
	d.once.Do(func() { d.seed = maphash.MakeSeed() })
	hash := maphash.Bytes(d.seed, properties)
	d.mu.Lock()
	defer d.mu.Unlock()
	if place := &d.seen[hash%seenProperties]; *place != hash {
		*place = hash
		return
	}
	if d.kept == nil || len(d.kept) >= definitionsKept {
		d.kept = map[string]*scheduler.Definition{}
	}
	d.kept[string(properties)] = def
}

// Plans caches plans that take long to compile, and the errors of schedules that are too expensive, so that listing a
// job repeatedly compiles it once. It implements [scheduler.PlanKeeper]. The zero value is ready for use.
type Plans struct {
	mu    sync.Mutex
	kept  map[planKey]kept
	order []planKey // oldest first
	work  float64   // total work of the cached plans
}

// planKey identifies a stored revision of a job.
type planKey struct {
	key      scheduler.Key
	revision uint64
}

type kept struct {
	plan *spec.Plan
	err  error
	work float64
}

const (
	// leastWork is the least work worth caching, as a fraction of the compile limit: about half a millisecond.
	leastWork = 0.02

	// mostWork limits the total work of the cached plans. Memory grows with work, up to several megabytes for a
	// schedule just below the compile limit.
	mostWork = 64
)

// Kept implements [scheduler.PlanKeeper].
func (p *Plans) Kept(k scheduler.Key, revision uint64) (plan *spec.Plan, ok bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	found, ok := p.kept[planKey{k, revision}]
	return found.plan, ok, found.err
}

// Keep implements [scheduler.PlanKeeper].
func (p *Plans) Keep(k scheduler.Key, revision uint64, plan *spec.Plan, err error) {
	one := kept{plan, err, 1}
	if err == nil {
		if one.work = plan.Work(); one.work < leastWork {
			return
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	place := planKey{k, revision}
	if _, ok := p.kept[place]; ok {
		return
	}
	if p.kept == nil {
		p.kept = map[planKey]kept{}
	}
	p.kept[place], p.order = one, append(p.order, place)
	for p.work += one.work; p.work > mostWork && len(p.order) > 1; p.order = p.order[1:] {
		p.work -= p.kept[p.order[0]].work
		delete(p.kept, p.order[0])
	}
}
