package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/cache"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/fairqueue"
	"github.com/carillon-sched/carillon/scheduler/index"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/step"
	"github.com/carillon-sched/carillon/scheduler/tokens"
	"github.com/carillon-sched/carillon/scheduler/trail"
)

// Config says how a service works. Store and Actions are required.
type Config struct {
	Store   scheduler.Store
	Actions scheduler.ActionReader

	// Trail keeps who changed what. Default: the Store, if it does; else that is not kept.
	Trail trail.Store

	// Limits apply to jobs of collections that set none of their own.
	Limits scheduler.Limits

	// Secrets seals the secrets of jobs. Default: a vault without keys, with
	// which jobs that have secrets are refused.
	Secrets *secrets.Vault

	// Collections are those of the store; a worker in the same process may share
	// them. Default: the service's own.
	Collections *cache.Collections

	// Tokens are the access tokens. Default: none, and none can be made.
	Tokens *tokens.Keeper

	// IndexBulk is from how many jobs on those that have changed are read in bulk for the index of searches. Default: 8192.
	IndexBulk int

	// HistoryMemory is how many bytes an index of the history may take, which is built
	// when somebody looks for records of it, and dropped ten minutes after the last one
	// did. Without one, records that are far apart are found slowly. Negative: none.
	// Default [DefaultHistoryMemory].
	HistoryMemory int64

	// Try makes the attempt with which a job is tried out, and returns what became of
	// it; a worker does, with the slots and the limits that it has for targets.
	// ErrConflict when there is no slot. Default: nothing can be tried.
	Try func(ctx context.Context, action scheduler.Action, a scheduler.Attempt) (scheduler.Result, error)

	// OnRecord is called with every record that the service writes to a history,
	// as of what an edit skips, after it is stored. It must not block. Default: none.
	OnRecord func(*scheduler.Record)

	// Logger takes what no caller can be told. Default: discard.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Trail == nil {
		c.Trail, _ = c.Store.(trail.Store)
	}
	if c.HistoryMemory == 0 {
		c.HistoryMemory = DefaultHistoryMemory
	}
	if c.Secrets == nil {
		c.Secrets = secrets.NewVault(secrets.Config{Store: c.Store.Secrets()})
	}
	if c.Collections == nil {
		c.Collections = cache.NewCollections(c.Store.Collections(), c.Actions)
	}
	return c
}

// Service does everything that users ask of the scheduler. It is one part for
// each kind of request.
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
	Trier
	OperationKeeper

	shared *shared
}

// Now returns the time by which jobs run.
func (s *Service) Now() time.Time { return s.shared.Store.Now() }

// JobShape returns the shape of a job document without an envelope, for the action types of the service.
func (s *Service) JobShape() *document.Shape {
	return scheduler.JobShape(s.shared.Actions).Flat("properties")
}

// shared is what the parts of a service have in common.
type shared struct {
	Config

	steps *step.Executor
	plans *cache.Plans
	index *index.Index // of jobs, for who searches

	histories *historyKeeper
	roster    *roster // of jobs, for who follows

	admissions admissions
	editing    lines // of jobs, by those whom others have overtaken

	computing *fairqueue.Queue // of requests that read a document or compute a schedule
	searching *fairqueue.Queue // of those that look through many jobs or records
	doctoring *fairqueue.Queue // of those that read all jobs, which takes seconds: one at a time
}

// New returns a service. Run keeps it quick; it also works without.
func New(cfg Config) *Service {
	h := &shared{
		Config: cfg.withDefaults(), plans: &cache.Plans{},
		computing: newQueue(few()), searching: newQueue(few()), doctoring: newQueue(1),
	}
	h.roster = &roster{store: h.Store}
	h.histories = newHistoryKeeper(h.Store, h.HistoryMemory)
	h.steps = step.New(step.Config{Store: h.Store, Secrets: h.Secrets, Load: h.load, OnRecord: h.OnRecord})
	h.index = index.New(index.Config{Store: h.Store, Bulk: h.IndexBulk, Now: h.Store.Now, Logger: h.Logger})
	planner := &planner{h}
	reader := Reader{h, planner}
	editor := Editor{shared: h, plans: planner, reads: reader, creating: &atomic.Bool{}}
	secrets := newSecrets(h)
	collections := CollectionKeeper{shared: h, edits: editor}
	return &Service{
		Editor: editor, Runner: Runner{shared: h, plans: planner}, Reader: reader, CollectionKeeper: collections,
		OperationKeeper: OperationKeeper{h, editor, Runner{shared: h, plans: planner}, reader},
		Auditor:         Auditor{h, planner, secrets}, SecretKeeper: secrets, TokenKeeper: TokenKeeper{h}, shared: h,
		ScheduleKeeper: ScheduleKeeper{h, editor, collections}, Previewer: Previewer{h.computing, h.Store.Now}, TrailKeeper: TrailKeeper{h},
		Forecaster: Forecaster{h}, Trier: Trier{h, editor, newTrials()},
	}
}

// Run follows the collections, the shared secrets and the access tokens until ctx is done, so that
// they need not be read for every job and every attempt, and the jobs, so that those that are
// searched for are found among many.
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
		h.Logger.Warn("lost a watch; reading from the store until it stands again", "of", what, "err", err)
	}
}

// find returns the job, or nil and what its delete marker says.
func (h *shared) find(ctx context.Context, k scheduler.Key) (*scheduler.Job, scheduler.Stored, error) {
	return h.findWith(ctx, k, func(st scheduler.Stored) (*scheduler.Job, error) { return h.decode(ctx, st) })
}

// findInTurn is find for who came with nothing but a name.
func (h *shared) findInTurn(ctx context.Context, k scheduler.Key) (*scheduler.Job, scheduler.Stored, error) {
	return h.findWith(ctx, k, func(st scheduler.Stored) (*scheduler.Job, error) { return h.decodeInTurn(ctx, st) })
}

func (h *shared) findWith(
	ctx context.Context, k scheduler.Key, decode func(scheduler.Stored) (*scheduler.Job, error),
) (*scheduler.Job, scheduler.Stored, error) {
	st, err := h.Store.LoadJob(ctx, k)
	if errors.Is(err, scheduler.ErrNotFound) {
		return nil, st, nil
	}
	if err != nil {
		return nil, st, fmt.Errorf("job %s: %w", k, err)
	}
	j, err := decode(st)
	return j, st, err
}

// load returns the job; ErrNotFound when there is none.
func (h *shared) load(ctx context.Context, k scheduler.Key) (*scheduler.Job, error) {
	j, _, err := h.find(ctx, k)
	return there(j, k, err)
}

// loadSettled returns the job as it is: at its end when its history says so.
func (h *shared) loadSettled(ctx context.Context, k scheduler.Key) (*scheduler.Job, error) {
	j, err := h.load(ctx, k)
	if err != nil {
		return nil, err
	}
	return h.steps.Settled(ctx, j)
}

// settledAll returns jobs as they are: at their end when their histories say so.
func (h *shared) settledAll(ctx context.Context, jobs []*scheduler.Job) ([]*scheduler.Job, error) {
	var keys []scheduler.Key
	for _, j := range jobs {
		if j.State == scheduler.Enabled {
			keys = append(keys, j.Key)
		}
	}
	look, err := h.steps.Look(ctx, keys)
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

// loadInTurn is load for who came with nothing but a name.
func (h *shared) loadInTurn(ctx context.Context, k scheduler.Key) (*scheduler.Job, error) {
	j, _, err := h.findInTurn(ctx, k)
	return there(j, k, err)
}

func there(j *scheduler.Job, k scheduler.Key, err error) (*scheduler.Job, error) {
	if j == nil && err == nil {
		err = fmt.Errorf("job %s: %w", k, scheduler.ErrNotFound)
	}
	return j, err
}

// stored returns those of jobs that there are, in the order of their answers. They are read when all have come: the store
// does not wait for long, and to read some hundred jobs may take longer.
func (h *shared) stored(ctx context.Context, keys []scheduler.Key) (all []scheduler.Stored, err error) {
	err = h.Store.LoadJobs(ctx, keys, func(st scheduler.Stored) { all = append(all, st) })
	return all, err
}

// readable returns those jobs that exist and are not damaged.
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

// decodeInTurn reads a stored job when it is the caller's turn: its schedule may take as long to compile as one that is
// put, and to ask for it takes a name. Nobody who has a place calls it. ErrUnavailable when too many wait already.
func (h *shared) decodeInTurn(ctx context.Context, st scheduler.Stored) (*scheduler.Job, error) {
	release, err := takeTurn(ctx, h.computing)
	if err != nil {
		return nil, err
	}
	defer release()
	return h.decode(ctx, st)
}

// decode reads a stored job, with the defaults of its collection.
func (h *shared) decode(ctx context.Context, st scheduler.Stored) (*scheduler.Job, error) {
	j, err := scheduler.DecodeJobWith(h.plans, st.Key, st.Revision, st.Data, h.Actions, h.Secrets)
	if err != nil {
		return nil, err
	}
	return h.Collections.Inherit(ctx, j), nil
}

// casTries bounds the repetitions of an edit that others keep overtaking.
const casTries = 10

// contended is what an edit ends with that was overtaken too often.
func contended(what string) error {
	return fmt.Errorf("%s: %w: it was changed by others all the while; try again", what, scheduler.ErrConflict)
}

// overtaken marks a compare-and-set that lost: the edit starts over.
func overtaken(err error) error {
	if errors.Is(err, scheduler.ErrConflict) {
		return step.ErrOvertaken
	}
	return err
}
