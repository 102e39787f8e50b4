package cache

import (
	"context"

	"github.com/carillon-sched/carillon/scheduler"
)

// Jobs are the compiled definitions that a process uses, so that in the steady
// state firing a job reads nothing.
type Jobs struct {
	*Mirror[scheduler.Key, *scheduler.Job]

	// Changed is called with each job that the watch says was changed, before it is
	// read again; nil for nothing. It must not block. Set it before Run.
	Changed func(scheduler.Key)

	store   scheduler.Jobs
	actions scheduler.ActionReader
	secrets scheduler.Sealer
}

const (
	// jobsKept is how many definitions are kept, about 3 KB each, fewer of those whose schedules hold more.
	jobsKept = 1 << 15

	// costlyWeight is as how many of them one counts whose schedule is almost too costly to compile: it holds some hundred
	// kilobytes.
	costlyWeight = 100

	// jobShards are so many that a load is hardly ever in the way of another
	// job's change, even when thousands change in a second.
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
		Load: j.Load, Revision: func(j *scheduler.Job) uint64 { return j.Revision }, Limit: jobsKept, Shards: jobShards,
		Weight: func(j *scheduler.Job) int { return 1 + int(costlyWeight*j.Plan.Work()) },
	})
	return j
}

// Load reads a job from the store.
func (j *Jobs) Load(ctx context.Context, k scheduler.Key) (*scheduler.Job, error) {
	st, err := j.store.LoadJob(ctx, k)
	if err != nil {
		return nil, err
	}
	return j.decode(st)
}

func (j *Jobs) decode(st scheduler.Stored) (*scheduler.Job, error) {
	return scheduler.DecodeJob(st.Key, st.Revision, st.Data, j.actions, j.secrets)
}

// At returns the job as it was at a revision, or as it is now when that is no
// longer kept.
func (j *Jobs) At(ctx context.Context, revision uint64, current *scheduler.Job) *scheduler.Job {
	if current.Revision == revision {
		return current
	}
	st, err := j.store.LoadJobAt(ctx, current.Key, revision)
	if err != nil || current.SameDefinition(st.Data) {
		return current // not kept, or written again for another reason, such as a new key for its secrets
	}
	if then, err := j.decode(st); err == nil {
		return then
	}
	return current
}

// Fill reads many jobs in one request. What cannot be read now is read when it
// is needed.
func (j *Jobs) Fill(ctx context.Context, keys []scheduler.Key) {
	if len(keys) == 1 {
		_, _ = j.Current(ctx, keys[0], 0)
		return
	}
	before := make(map[scheduler.Key]uint32, len(keys))
	for _, k := range keys {
		before[k] = j.Changes(k)
	}
	stored := make([]scheduler.Stored, 0, len(keys))
	_ = j.store.LoadJobs(ctx, keys, func(st scheduler.Stored) { stored = append(stored, st) })
	for _, st := range stored { // when all have come, as the store does not wait for long
		if job, err := j.decode(st); err == nil {
			j.Keep(st.Key, job, before[st.Key])
		}
	}
}
