package control

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/auth/tokens"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/engine/step"
	"github.com/carillon-sched/carillon/scheduler/fairqueue"
	"github.com/carillon-sched/carillon/scheduler/jobcache"
	"github.com/carillon-sched/carillon/scheduler/jobcache/index"
	"github.com/carillon-sched/carillon/scheduler/secrets"
)

// Config configures a Service. Store and Actions are required.
type Config struct {
	Store   scheduler.Store
	Actions scheduler.ActionReader

	// Trail stores the audit log. Default: Store if it implements it; otherwise the service keeps no audit log.
	Trail audit.Store

	// Limits apply to jobs of collections that set no limits.
	Limits scheduler.Limits

	// Secrets seals the secrets of jobs. Default: a vault without keys; jobs with secrets are rejected.
	Secrets *secrets.Vault

	// Collections caches the collections of Store. Set it to share the cache with a worker in the same process.
	// Default: a separate cache.
	Collections *jobcache.Collections

	// Tokens manages access tokens. Default: none; the service cannot create any.
	Tokens *tokens.Keeper

	// IndexBulk is the number of changed jobs from which the search index reads in bulk. Default: 8192.
	IndexBulk int

	// HistoryMemory limits the bytes of the history index. The service builds it at the first search for records and
	// drops it ten minutes after the last one. Without it, searches for scattered records are slow. Negative: no index.
	// Default: [DefaultHistoryMemory].
	HistoryMemory int64

	// Try makes the attempt of a test run and returns its result. A worker provides it, with its slots and target
	// limits. Without a free slot it returns ErrConflict. Default: no test runs.
	Try func(ctx context.Context, action scheduler.Action, a scheduler.Attempt) (scheduler.Result, error)

	// Sources are the sources that this process runs. Default: none; sources have no status.
	Sources RunningSources

	// Failures returns the failure groups of the collections that sees accepts, as package stats counts them. Default: none.
	Failures func(ctx context.Context, sees func(collection string) bool) []*v1.FailureGroup

	// Activity returns what all schedulers do. Default: none.
	Activity func(ctx context.Context) (*v1.Activity, error)

	// OnRecord receives each history record that the service writes, such as the skips of an edit, after it is stored.
	// It must not block. Default: none.
	OnRecord func(*scheduler.Record)

	// Logger receives errors that no caller can handle. Default: discard.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Trail == nil {
		c.Trail, _ = c.Store.(audit.Store)
	}
	if c.Failures == nil {
		c.Failures = func(context.Context, func(string) bool) []*v1.FailureGroup { return nil }
	}
	if c.Activity == nil {
		c.Activity = func(context.Context) (*v1.Activity, error) { return &v1.Activity{Targets: []v1.ActivityTarget{}}, nil }
	}
	if c.HistoryMemory == 0 {
		c.HistoryMemory = DefaultHistoryMemory
	}
	if c.Secrets == nil {
		c.Secrets = secrets.NewVault(secrets.Config{Store: c.Store.Secrets()})
	}
	if c.Collections == nil {
		c.Collections = jobcache.NewCollections(c.Store.Collections(), c.Actions)
	}
	return c
}

// Service implements all user operations, with one part per kind of request.
type Service struct {
	Editor
	Runner
	Reader
	CollectionKeeper
	Auditor
	SecretKeeper
	TokenKeeper
	ScheduleKeeper
	Previewer
	TrailKeeper
	Forecaster
	TestRunner
	OperationKeeper
	EventKeeper
	SourceKeeper
	FailureKeeper
	ViewKeeper

	shared *shared
}

// Now returns the time by which jobs run.
func (s *Service) Now() time.Time { return s.shared.Store.Now() }

// JobShape returns the shape of a job document without an envelope, for the action types of the service.
func (s *Service) JobShape() *document.Shape {
	return scheduler.JobShape(s.shared.Actions).Flat("properties")
}

// shared is the common state of a service's parts.
type shared struct {
	Config

	steps *step.Executor
	plans *jobcache.Plans
	index *index.Index // of jobs, for searches

	histories *historyKeeper
	jobs      common[*register] // for live tails
	feed      feed              // of records, for live tails
	marks     marks             // of failure groups
	heard     heardJobs         // guarded by hearing

	admissions admissions
	editing    *fairqueue.Queue // conflicting edits, by job
	hearing    *fairqueue.Queue // readers of the registry

	computing *fairqueue.Queue // requests that parse a document or compute a schedule
	searching *fairqueue.Queue // requests that search many jobs or records
	doctoring *fairqueue.Queue // requests that read all jobs, which takes seconds: one at a time
}

// New returns a service. It works without Run, but slower.
func New(cfg Config) *Service {
	h := &shared{
		Config: cfg.withDefaults(), plans: &jobcache.Plans{},
		admissions: admissions{locks: newMutexes()}, editing: newMutexes(), hearing: newMutexes(),
		computing: newQueue(few()), searching: newQueue(few()), doctoring: newQueue(1),
	}
	h.feed.store = h.Store
	h.histories = newHistoryKeeper(h.Store, h.HistoryMemory)
	h.steps = step.New(step.Config{Store: h.Store, Secrets: h.Secrets, Load: h.load, OnRecord: h.OnRecord})
	h.index = index.New(index.Config{Store: h.Store, Actions: h.Actions, Bulk: h.IndexBulk, Now: h.Store.Now, Logger: h.Logger})
	planner := &planner{h}
	reader := Reader{h, planner}
	editor := Editor{shared: h, plans: planner, reads: reader, creating: &atomic.Bool{}}
	secrets := newSecrets(h)
	sources := SourceKeeper{shared: h}
	collections := CollectionKeeper{shared: h, edits: editor, sources: sources}
	return &Service{
		Editor: editor, Runner: Runner{shared: h, plans: planner}, Reader: reader, CollectionKeeper: collections,
		OperationKeeper: OperationKeeper{h, editor, Runner{shared: h, plans: planner}, reader, newOperator()},
		Auditor:         Auditor{h, planner, secrets}, SecretKeeper: secrets, TokenKeeper: TokenKeeper{h}, shared: h,
		ScheduleKeeper: ScheduleKeeper{h, editor, collections}, Previewer: Previewer{h.computing, h.Store.Now}, TrailKeeper: TrailKeeper{h},
		Forecaster: Forecaster{h}, TestRunner: TestRunner{h, editor, newTrials()}, EventKeeper: EventKeeper{h}, SourceKeeper: sources,
		FailureKeeper: FailureKeeper{h}, ViewKeeper: ViewKeeper{h},
	}
}

// Run watches collections, shared secrets and access tokens until ctx is done, so that they are not read for every job
// and every attempt. It also watches jobs to keep the search index.
func (s *Service) Run(ctx context.Context) error {
	var watches sync.WaitGroup
	watches.Go(func() { s.shared.Secrets.Run(ctx, s.shared.lost("shared secrets")) })
	watches.Go(func() { s.shared.Collections.Run(ctx, s.shared.lost("collections")) })
	watches.Go(func() { s.shared.histories.run(ctx, s.shared.lost("the index of the history")) })
	if s.shared.Tokens != nil {
		watches.Go(func() { s.shared.Tokens.Run(ctx, s.shared.lost("access tokens")) })
	}
	watches.Go(func() { s.shared.index.Run(ctx) })
	watches.Go(func() { s.completeAll(ctx) })
	watches.Go(func() { s.run(ctx) })
	watches.Wait()
	return nil
}

func (h *shared) lost(what string) func(error) {
	return func(err error) {
		h.Logger.Warn("a watch ended; reading from the store until it is restored", "of", what, "err", err)
	}
}

// find returns the job, or nil and its delete marker. Do not call it with a turn of computing.
func (h *shared) find(ctx context.Context, k scheduler.Key) (*scheduler.Job, scheduler.Stored, error) {
	st, err := h.Store.LoadJob(ctx, k)
	if errors.Is(err, scheduler.ErrNotFound) {
		return nil, st, nil
	}
	if err != nil {
		return nil, st, fmt.Errorf("job %s: %w", k, err)
	}
	j, err := h.decodeInTurn(ctx, st)
	return j, st, err
}

// load returns the job, or ErrNotFound.
func (h *shared) load(ctx context.Context, k scheduler.Key) (*scheduler.Job, error) {
	j, _, err := h.find(ctx, k)
	return there(j, k, err)
}

// loadSettled returns the job in its current state: it has ended if its history says so.
func (h *shared) loadSettled(ctx context.Context, k scheduler.Key) (*scheduler.Job, error) {
	j, err := h.load(ctx, k)
	if err != nil {
		return nil, err
	}
	return h.steps.Settled(ctx, j)
}

// settledAll returns jobs in their current state: a job has ended if its history says so.
func (h *shared) settledAll(ctx context.Context, jobs []*scheduler.Job) ([]*scheduler.Job, error) {
	var keys []scheduler.Key
	for _, j := range jobs {
		if j.State == scheduler.Enabled {
			keys = append(keys, j.Key)
		}
	}
	look, err := h.steps.Snapshot(ctx, keys)
	if err != nil {
		return nil, err
	}
	for i, j := range jobs {
		if j.State != scheduler.Enabled {
			continue
		}
		own, err := look.Own(ctx, j)
		if err != nil {
			return nil, err
		}
		jobs[i] = own.Job(j)
	}
	return jobs, nil
}

func there(j *scheduler.Job, k scheduler.Key, err error) (*scheduler.Job, error) {
	if j == nil && err == nil {
		err = fmt.Errorf("job %s: %w", k, scheduler.ErrNotFound)
	}
	return j, err
}

// stored returns the existing jobs among keys, in the order of arrival. Decode them after all have arrived: the store
// does not wait for slow readers, and decoding some hundred jobs may take too long.
func (h *shared) stored(ctx context.Context, keys []scheduler.Key) (all []scheduler.Stored, err error) {
	err = h.Store.LoadJobs(ctx, keys, func(st scheduler.Stored) { all = append(all, st) })
	return all, err
}

// eachOf passes the existing jobs among any number of keys.
func (h *shared) eachOf(ctx context.Context, keys []scheduler.Key, pass func(scheduler.Stored)) error {
	for chunk := range slices.Chunk(keys, batchKeys) {
		if err := h.Store.LoadJobs(ctx, chunk, pass); err != nil {
			return err
		}
	}
	return nil
}

// readable returns the existing jobs that are not damaged.
func (h *shared) readable(ctx context.Context, keys []scheduler.Key) (jobs []*scheduler.Job, err error) {
	stored, err := h.stored(ctx, keys)
	if err != nil {
		return nil, err
	}
	for _, st := range stored {
		j, err := h.decodeInTurn(ctx, st)
		if _, damaged := errors.AsType[*scheduler.DamagedError](err); damaged {
			continue
		}
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// decodeInTurn decodes a stored job in the caller's turn: compiling its schedule may take as long as for a put, and the
// request needs only a name. Do not call it with a turn. It returns ErrUnavailable if too many requests wait.
func (h *shared) decodeInTurn(ctx context.Context, st scheduler.Stored) (*scheduler.Job, error) {
	if _, requested := ctx.Value(callerKey{}).(string); !requested { // background work does not wait for the requests of others
		return h.decode(ctx, st)
	}
	release, err := takeTurn(ctx, h.computing)
	if err != nil {
		return nil, err
	}
	defer release()
	return h.decode(ctx, st)
}

// decode decodes a stored job, with the defaults of its collection.
func (h *shared) decode(ctx context.Context, st scheduler.Stored) (*scheduler.Job, error) {
	j, err := scheduler.DecodeJobWith(h.plans, st.Key, st.Revision, st.Data, h.Actions, h.Secrets)
	if err != nil {
		return nil, err
	}
	return h.Collections.Inherit(ctx, j), nil
}

// casTries limits the tries of an edit with conflicts.
const casTries = 10

// contended is the error of an edit after too many conflicts.
func contended(what string) error {
	return fmt.Errorf("%s: %w: other clients kept changing it; try again", what, scheduler.ErrConflict)
}

// overtaken marks a failed compare-and-set: the edit starts over.
func overtaken(err error) error {
	if errors.Is(err, scheduler.ErrConflict) {
		return step.ErrOvertaken
	}
	return err
}
