package scheduler

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// ServiceConfig says how a service works. Store and Actions are required.
type ServiceConfig struct {
	Store   Store
	Actions ActionReader

	// Limits apply to jobs of collections that set none of their own.
	Limits Limits

	// Secrets seals the secrets of jobs. Default: a vault without keys, with
	// which jobs that have secrets are refused.
	Secrets *Vault

	// Logger takes what no caller can be told. Default: discard.
	Logger *slog.Logger
}

// Service does everything that users ask of the scheduler. All doors (REST,
// NATS, CLI, console) call it, so they cannot differ.
type Service struct {
	store       Store
	actions     ActionReader
	limits      Limits
	secrets     *Vault
	log         *slog.Logger
	collections *collections
	creating    atomic.Bool // the last job that was put was new
}

// NewService returns a service. Run keeps it quick; it also works without.
func NewService(cfg ServiceConfig) *Service {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Secrets == nil {
		cfg.Secrets = NewVault(VaultConfig{Store: cfg.Store})
	}
	return &Service{
		store: cfg.Store, actions: cfg.Actions, limits: cfg.Limits, secrets: cfg.Secrets, log: cfg.Logger,
		collections: newCollections(cfg.Store),
	}
}

// Run follows the collections and the shared secrets until ctx is done, so that
// they need not be read for every job and every attempt.
func (s *Service) Run(ctx context.Context) error {
	var watches sync.WaitGroup
	watches.Go(func() {
		s.secrets.watch(ctx, func(err error) {
			s.log.Warn("lost a watch; reading shared secrets from the store until it stands again", "err", err)
		})
	})
	s.collections.watch(ctx, func(err error) {
		s.log.Warn("lost a watch; reading collections from the store until it stands again", "err", err)
	})
	watches.Wait()
	return nil
}

// Edit is a request to put or patch a job.
type Edit struct {
	Key          Key
	Body         []byte // JSON or YAML
	SpecSequence uint64 // stream sequence when the edit was published as a spec; 0 otherwise
}

// Put creates a job, or replaces its definition: everything the document does
// not name takes its default. created tells which. A definition equal to the
// present one changes nothing.
//
// Secrets are the exception: no view of a job shows them, so a document that
// leaves out one that the job has may be such a view that is put back, and is
// refused. Null drops a secret, or what it stands in.
//
// Errors: ErrInvalid with every problem; ErrNotFound when the collection does
// not exist; ErrConflict when a quota is used up, or the job is completed or
// faulted, which is final.
func (s *Service) Put(ctx context.Context, e Edit) (v *JobView, created bool, err error) {
	def, at, err := s.define(ctx, e)
	if err != nil {
		return nil, false, s.hintSecrets(ctx, e.Key, err)
	}
	if s.creating.Load() { // jobs come in herds: do without the look whether this one exists
		v, err := s.create(ctx, 0, e, def)
		if !errors.Is(err, errOvertaken) && !errors.Is(err, ErrConflict) {
			return v, err == nil, err
		}
	}
	v, created, err = s.apply(ctx, e, func(cur *Job) (*Definition, error) { return def, checkLeftOut(cur, def, at) })
	s.creating.Store(created)
	return v, created, err
}

// Patch merges a document into a job's definition (RFC 7396): what it does not
// name stays, null removes. Errors as for Put, and ErrNotFound when the job
// does not exist. A patch that sends an action's secrets to another host, or to
// the same one unencrypted, must bring them itself; see [Confidant].
func (s *Service) Patch(ctx context.Context, e Edit) (*JobView, error) {
	c, patch, err := s.readPatch(ctx, e)
	if err != nil {
		return nil, err
	}
	v, _, err := s.apply(ctx, e, func(cur *Job) (*Definition, error) {
		if cur == nil {
			return nil, fmt.Errorf("job %s: %w", e.Key, ErrNotFound)
		}
		def, err := s.patched(ctx, cur, patch, c.limits(s.limits))
		if err != nil {
			return nil, err
		}
		again := e.SpecSequence > 0 && e.SpecSequence == cur.SpecSequence // done before, and the job has run since
		if _, turned := patch.Member("state"); turned && cur.State.Final() && !again {
			return nil, finalError(cur)
		}
		return def, c.admits(e.Key, def)
	})
	return v, err
}

func finalError(j *Job) error {
	return fmt.Errorf("job %s: %w: it is %s, which is final", j.Key, ErrConflict, j.State)
}

// casTries bounds the repetitions of an edit that others keep overtaking.
const casTries = 10

// apply writes the definition that edit makes of the current job, and arms or
// re-plans the job's baton.
func (s *Service) apply(ctx context.Context, e Edit, edit func(cur *Job) (*Definition, error)) (*JobView, bool, error) {
	for range casTries {
		cur, at, err := s.find(ctx, e.Key)
		if err != nil {
			return nil, false, err
		}
		if cur == nil && e.SpecSequence > 0 && at.SpecSequence > e.SpecSequence {
			return nil, false, fmt.Errorf("job %s: %w: a later spec deleted it", e.Key, ErrConflict)
		}
		if cur != nil && e.SpecSequence > 0 && cur.SpecSequence > e.SpecSequence {
			v, err := s.superseded(ctx, cur)
			return v, false, err
		}
		def, err := edit(cur)
		if err != nil {
			return nil, false, err
		}
		v, err := s.write(ctx, cur, at.Revision, e, def)
		if errors.Is(err, errOvertaken) {
			continue
		}
		return v, cur == nil, err
	}
	return nil, false, fmt.Errorf("job %s: %w: it was changed by others all the while; try again", e.Key, ErrConflict)
}

// superseded answers an edit that a later one has overtaken.
func (s *Service) superseded(ctx context.Context, cur *Job) (*JobView, error) {
	v, err := s.view(ctx, cur)
	if v != nil {
		v.Superseded = true
	}
	return v, err
}

// errOvertaken says that a compare-and-set lost, and that the edit starts over.
var errOvertaken = errors.New("overtaken")

func overtaken(err error) error {
	if errors.Is(err, ErrConflict) {
		return errOvertaken
	}
	return err
}

// find returns the job, or nil and what its delete marker says.
func (s *Service) find(ctx context.Context, k Key) (*Job, Stored, error) {
	st, err := s.store.LoadJob(ctx, k)
	if errors.Is(err, ErrNotFound) {
		return nil, st, nil
	}
	if err != nil {
		return nil, st, fmt.Errorf("job %s: %w", k, err)
	}
	j, err := DecodeJob(k, st.Revision, st.Data, s.actions, s.secrets)
	return j, st, err
}

// write stores a definition over the revision rev and sees to the baton.
func (s *Service) write(ctx context.Context, cur *Job, rev uint64, e Edit, def *Definition) (*JobView, error) {
	if cur == nil {
		return s.create(ctx, rev, e, def)
	}
	if cur.equals(def) && e.SpecSequence <= cur.SpecSequence {
		return s.unchanged(ctx, cur)
	}
	if cur.State.Final() && !cur.equals(def) {
		return nil, fmt.Errorf("job %s: %w: it is %s, which is final; delete it to use the name again", cur.Key, ErrConflict, cur.State)
	}
	next, err := cur.edited(def, time.Now().UTC(), e.SpecSequence)
	if err != nil {
		return nil, err
	}
	return s.replace(ctx, cur, next)
}

// unchanged answers an edit that changes nothing. It makes sure of the baton,
// as the edit may be the repetition of one that was cut short.
func (s *Service) unchanged(ctx context.Context, j *Job) (*JobView, error) {
	if j.State == Enabled {
		if err := s.replan(ctx, j, Enabled); err != nil {
			return nil, err
		}
	}
	return s.view(ctx, j)
}

// create stores a new job and arms its first baton.
func (s *Service) create(ctx context.Context, rev uint64, e Edit, def *Definition) (*JobView, error) {
	if err := s.checkJobCount(ctx, e.Key.Collection); err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	j := &Job{
		Key: e.Key, UID: rand.Text(), Generation: 1, ScheduleGen: 1, Created: now, Updated: now, Anchor: now,
		SpecSequence: e.SpecSequence, State: def.State, Def: def,
	}
	if err := j.compile(); err != nil {
		return nil, err
	}
	first := j.Begin(Progress{})
	if first.Next == nil && j.State == Enabled {
		j.State = Completed // it has no instant left
	}
	if err := s.save(ctx, j, rev); err != nil {
		return nil, err
	}
	if first.Next == nil { // all it had may be left out by a clock
		if err := s.appendSkips(ctx, j, &first); err != nil {
			return nil, err
		}
	}
	if j.State != Enabled {
		return newView(j, Progress{}), nil
	}
	first.Next.Revision = j.Revision
	err := s.arm(ctx, j, first.Next, 0)
	if errors.Is(err, ErrConflict) { // armed by an audit, or left by an earlier job of the name
		err = s.replaceStray(ctx, j, first.Next)
	}
	if err != nil {
		return nil, err // the definition stands: the audit, or a repetition, arms it
	}
	v := newView(j, Progress{})
	v.Status.Next = first.Next.Due
	return v, nil
}

// save writes j over a revision and sets its new one.
func (s *Service) save(ctx context.Context, j *Job, replaces uint64) error {
	data, err := j.Encode(s.secrets)
	if err != nil {
		return err
	}
	rev, err := s.store.SaveJob(ctx, j.Key, data, replaces, j.State.Final())
	if err != nil {
		return overtaken(err)
	}
	j.Revision = rev
	return nil
}

// replace stores an edited job and re-plans it.
func (s *Service) replace(ctx context.Context, cur, next *Job) (*JobView, error) {
	if next.State == Disabled && cur.State == Enabled {
		p, err := s.progress(ctx, cur)
		if err != nil {
			return nil, err
		}
		next.Progress = p
		if next.ScheduleGen != cur.ScheduleGen {
			next.Progress = p.afresh()
		}
	}
	if err := s.save(ctx, next, cur.Revision); err != nil {
		return nil, err
	}
	var err error
	switch next.State { //nolint:exhaustive // a final state has been written, and needs no baton
	case Disabled:
		err = s.cancelPlanned(ctx, next)
	case Enabled:
		err = s.replan(ctx, next, cur.State)
	}
	if err != nil {
		return nil, fmt.Errorf("job %s: stored, but not planned yet: %w", next.Key, err)
	}
	return s.viewOf(ctx, next.Key)
}

// Delete removes a job, its batons and its history. ErrNotFound when it does
// not exist. An attempt that is running ends; nothing follows it.
func (s *Service) Delete(ctx context.Context, k Key, specSequence uint64) error {
	if err := k.Validate(); err != nil {
		return err
	}
	for range casTries {
		st, err := s.store.LoadJob(ctx, k)
		if errors.Is(err, ErrNotFound) && specSequence > 0 && st.SpecSequence == specSequence {
			return s.sweep(ctx, k) // this spec deleted it, and was cut short
		}
		if err != nil {
			return fmt.Errorf("job %s: %w", k, err)
		}
		if storedSpecSequence(st.Data) > specSequence && specSequence > 0 {
			return fmt.Errorf("job %s: %w: a later spec put it again", k, ErrConflict)
		}
		err = s.store.RemoveJob(ctx, k, st.Revision, specSequence)
		if errors.Is(err, ErrConflict) {
			continue
		}
		if err != nil {
			return fmt.Errorf("job %s: %w", k, err)
		}
		return s.sweep(ctx, k)
	}
	return fmt.Errorf("job %s: %w: it was changed by others all the while; try again", k, ErrConflict)
}

// sweep removes what a deleted job leaves.
func (s *Service) sweep(ctx context.Context, k Key) error {
	if err := s.store.Clear(ctx, k); err != nil {
		return fmt.Errorf("job %s: deleted, but its baton is still there and will be dropped when due: %w", k, err)
	}
	return s.store.Forget(ctx, k)
}

// Enable lets a disabled job run again. Instants that passed meanwhile are
// recorded as skipped. ErrConflict when the job is completed or faulted.
func (s *Service) Enable(ctx context.Context, k Key) (*JobView, error) {
	return s.Turn(ctx, k, Enabled, 0)
}

// Disable stops a job until it is enabled; an attempt that is running ends, and
// so does a run by hand, however long its target or its retries take.
// ErrConflict when the job is completed or faulted.
func (s *Service) Disable(ctx context.Context, k Key) (*JobView, error) {
	return s.Turn(ctx, k, Disabled, 0)
}

// Turn enables or disables a job. specSequence is the stream sequence of the
// spec that asked for it, 0 if none did; a job that a later spec has written
// stays as it is, and the view says so.
func (s *Service) Turn(ctx context.Context, k Key, state State, specSequence uint64) (*JobView, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	for range casTries {
		cur, _, err := s.find(ctx, k)
		if err != nil {
			return nil, err
		}
		if cur == nil {
			return nil, fmt.Errorf("job %s: %w", k, ErrNotFound)
		}
		if specSequence > 0 && cur.SpecSequence > specSequence {
			return s.superseded(ctx, cur)
		}
		if cur.State.Final() {
			return nil, finalError(cur)
		}
		if cur.State == state {
			return s.unchanged(ctx, cur)
		}
		next := *cur
		next.SpecSequence = max(cur.SpecSequence, specSequence)
		next.State = state
		next.Generation++
		next.Updated = time.Now().UTC()
		v, err := s.replace(ctx, cur, &next)
		if !errors.Is(err, errOvertaken) {
			return v, err
		}
	}
	return nil, fmt.Errorf("job %s: %w: it was changed by others all the while; try again", k, ErrConflict)
}

// Trigger runs a job now, besides its schedule, which goes on as planned; the
// run does not use up recurrence.count. ErrConflict when the job is running,
// waiting for a retry, completed or faulted. A disabled job runs once.
func (s *Service) Trigger(ctx context.Context, k Key) (occurrence string, err error) {
	return s.TriggerAt(ctx, k, time.Now())
}

// TriggerAt is [Service.Trigger] for a request that was made at the instant
// asked: the run's nominal time. A request that is repeated, because nobody
// knows whether it was carried out, has the same occurrence id again, and so
// the same idempotency key.
func (s *Service) TriggerAt(ctx context.Context, k Key, asked time.Time) (occurrence string, err error) {
	if err := k.Validate(); err != nil {
		return "", err
	}
	j, _, err := s.find(ctx, k)
	switch {
	case err != nil:
		return "", err
	case j == nil:
		return "", fmt.Errorf("job %s: %w", k, ErrNotFound)
	case j.State.Final():
		return "", finalError(j)
	}
	asked = asked.UTC()
	b := Baton{UID: j.mark(), Revision: j.Revision, Schedule: j.ScheduleGen, Nominal: asked, Due: asked, Manual: true}
	id := OccurrenceID(k, asked)
	if j.State == Disabled {
		return id, s.triggerDisabled(ctx, j, b)
	}
	st, err := s.store.Waiting(ctx, Slot{Key: k})
	if errors.Is(err, ErrNotFound) {
		return id, s.busy(ctx, k, asked)
	}
	if err != nil {
		return "", err
	}
	waiting, err := DecodeBaton(st.Data)
	if err != nil {
		return "", err
	}
	switch held := !waiting.Held.IsZero(); {
	case !waiting.serves(j): // left by a delete that was cut short
		if err := s.replan(ctx, j, Enabled); err != nil {
			return "", err
		}
		return "", fmt.Errorf("job %s: %w: it is just being planned; try again", k, ErrConflict)
	case (waiting.Begun() || held) && waiting.Manual && waiting.Nominal.Equal(asked):
		return id, nil // the same request has been carried out, and is being retried, or put off
	case held:
		return "", fmt.Errorf("job %s: %w: its target does not let it run before %s", k, ErrConflict, waiting.Held.Format(time.RFC3339))
	case waiting.Begun():
		return "", fmt.Errorf("job %s: %w: it waits for a retry at %s", k, ErrConflict, waiting.Due.Format(time.RFC3339))
	}
	b.Resume, b.Progress = waiting.Nominal, waiting.Progress
	err = s.store.Fire(ctx, Slot{Key: k}, b.Encode(), st.Revision)
	if errors.Is(err, ErrConflict) {
		return id, s.busy(ctx, k, asked)
	}
	return id, err
}

// triggerDisabled runs a disabled job once, on a one-off message.
func (s *Service) triggerDisabled(ctx context.Context, j *Job, b Baton) error {
	if held, _, err := s.baton(ctx, j); err == nil && held.Manual && held.Nominal.Equal(b.Nominal) {
		return nil // the same request was carried out before the job was disabled, and has not ended
	}
	b.OneOff = true
	b.Number = j.Progress.Number
	err := s.store.Fire(ctx, Slot{Key: j.Key, OneOff: oneOffName(b.Nominal)}, b.Encode(), 0)
	if errors.Is(err, ErrConflict) {
		return nil // the same request has been carried out, and still runs
	}
	return err
}

// busy explains why a job without a waiting baton cannot be run now: nil when
// what runs is what was asked for.
func (s *Service) busy(ctx context.Context, k Key, asked time.Time) error {
	st, err := s.store.Running(ctx, Slot{Key: k})
	switch {
	case errors.Is(err, ErrNotFound):
		return fmt.Errorf("job %s: %w: it is just being planned; try again", k, ErrConflict)
	case err != nil:
		return err
	}
	if b, err := DecodeBaton(st.Data); err == nil && b.Manual && b.Nominal.Equal(asked) {
		return nil
	}
	return fmt.Errorf("job %s: %w: it is running, or about to", k, ErrConflict)
}
