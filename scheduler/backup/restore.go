package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/registry"
)

// RestoreConfig configures [Plan] and [Restore]. Store is required.
type RestoreConfig struct {
	Store Store

	// Existing is the policy for names that the store already has. Default: [Refuse].
	Existing Existing

	// Disabled restores jobs as disabled, with their progress. Completed and faulted jobs stay so.
	Disabled bool

	// Tokens restores access tokens as well.
	Tokens bool

	// Sign re-signs a token of the backup for this store; see tokens.Keeper. Default: tokens are unchanged and fail
	// verification.
	Sign func(ctx context.Context, id string, data []byte, create bool) ([]byte, error)

	// Progress is called occasionally with the number of processed jobs, never concurrently. Default: none.
	Progress func(jobs int)

	// Jobs is the number of jobs in the backup, if known. Restore spreads overdue jobs over time by it.
	Jobs int
}

// Plan reports what [Restore] would do. It only reads.
func Plan(ctx context.Context, cfg RestoreConfig, from *Reader) (*Report, error) {
	return (&restorer{RestoreConfig: cfg, dry: true}).run(ctx, from)
}

// Restore writes the entries of a backup to a store. Call [Verify] and [Plan] first, so that nothing is written from a
// damaged or refused backup. You can repeat an interrupted Restore; it resumes. The error matches
// [scheduler.ErrConflict] if another process created a conflicting object in the meantime.
func Restore(ctx context.Context, cfg RestoreConfig, from *Reader) (*Report, error) {
	return (&restorer{RestoreConfig: cfg}).run(ctx, from)
}

// restorer restores or plans one backup.
type restorer struct {
	RestoreConfig

	dry    bool
	report Report
}

func (r *restorer) run(ctx context.Context, from *Reader) (*Report, error) {
	if r.Progress == nil {
		r.Progress = func(int) {}
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	var jobs []*Entry
	restore := func() {
		batch := jobs
		jobs = nil
		g.Go(func() error { return r.restoreJobs(gctx, batch) })
	}
	values := buckets(r.Store, true)
	err := r.each(gctx, from, func(e *Entry) error {
		if e.Kind != Job {
			return r.restoreValue(gctx, values[e.Kind], e)
		}
		if jobs = append(jobs, e); len(jobs) == chunk {
			restore()
			r.Progress(r.report.done())
		}
		return nil
	})
	if err == nil && len(jobs) > 0 {
		restore()
	}
	if failed := g.Wait(); failed != nil {
		return &r.report, failed
	}
	r.Progress(r.report.done())
	return &r.report, err
}

func (r *restorer) each(ctx context.Context, from *Reader, f func(*Entry) error) error {
	for ctx.Err() == nil {
		e, err := from.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(e); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// tries is the maximum number of attempts of a write that fails or loses against another process.
const tries = 8

// pause is the time between attempts.
const pause = 250 * time.Millisecond

// again repeats step until the store accepts it without a conflict. Each step first reads the current state, so
// repeating a successful write is harmless.
func again(ctx context.Context, step func() error) error {
	var err error
	for try := range tries {
		if try > 0 {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		err = step()
		if !errors.Is(err, scheduler.ErrUnavailable) && !errors.Is(err, scheduler.ErrConflict) {
			return err
		}
	}
	return err
}

// restoreValue restores an entry that is not a job.
func (r *restorer) restoreValue(ctx context.Context, bucket scheduler.Bucket, e *Entry) error {
	if e.Kind == Token && !r.Tokens {
		return nil
	}
	var f restoreAction
	err := again(ctx, func() (err error) {
		if e.Kind == Token && r.Sign != nil {
			if e.Data, err = r.Sign(ctx, e.Name, e.Data, !r.dry); err != nil {
				return err
			}
		}
		st, err := bucket.Load(ctx, e.Name)
		switch {
		case errors.Is(err, scheduler.ErrNotFound):
			st = scheduler.Stored{}
		case err != nil:
			return err
		}
		f = decide(compareValue(st.Data, e), r.Existing)
		if r.dry || f != put && f != replaced {
			return nil
		}
		_, err = bucket.Save(ctx, e.Name, e.Data, st.Revision)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s %s: %w", e.Kind, e.Name, err)
	}
	r.report.add(f, e)
	return r.refused(f, e)
}

// refused returns the error of a conflict that has appeared since the plan.
func (r *restorer) refused(f restoreAction, e *Entry) error {
	if r.dry || f != conflict {
		return nil
	}
	return fmt.Errorf("%s %s: %w: something else was put under its name meanwhile", e.Kind, e.Name, scheduler.ErrConflict)
}

// writers is the maximum number of concurrent writes per chunk; the store acknowledges many together.
const writers = 64

// place is the store's current state of a job.
type place struct {
	definition *scheduler.Stored // nil: missing
	baton      bool              // the job has its own baton
	orphan     bool              // the definition is missing, and the baton is of another job
}

// restoreJobs restores a chunk of jobs.
func (r *restorer) restoreJobs(ctx context.Context, entries []*Entry) error {
	revision := uint64(0)
	if !r.dry {
		last, err := r.Store.LastRevision(ctx)
		if err != nil {
			return err
		}
		revision = last + 1
	}
	places, err := r.places(ctx, entries)
	if err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(writers)
	for _, e := range entries {
		p := places[e.Key()]
		f := decide(p.compare(e), r.Existing)
		if r.dry || f != put && f != replaced {
			r.report.add(f, e)
			if err := r.refused(f, e); err != nil {
				return errors.Join(err, g.Wait())
			}
			continue
		}
		g.Go(func() error { return r.restoreJob(gctx, e, *p, revision) })
	}
	return g.Wait()
}

// restoreJob restores one job. It re-reads the store if another process interferes.
func (r *restorer) restoreJob(ctx context.Context, e *Entry, p place, revision uint64) error {
	f, first := put, true
	err := again(ctx, func() error {
		if !first {
			now, err := r.places(ctx, []*Entry{e})
			if err != nil {
				return err
			}
			p = *now[e.Key()]
		}
		first = false
		f = decide(p.compare(e), r.Existing)
		if f != put && f != replaced {
			return nil
		}
		return r.write(ctx, e, p, f, revision)
	})
	if err != nil {
		return fmt.Errorf("job %s: %w", e.Name, err)
	}
	r.report.add(f, e)
	return r.refused(f, e)
}

func (p *place) compare(e *Entry) comparison {
	var have []byte
	if p.definition != nil {
		have = p.definition.Data
	}
	return compareJob(have, scheduler.MovedJob(e.Data), p.orphan)
}

// places reads the store's current state of jobs.
func (r *restorer) places(ctx context.Context, entries []*Entry) (map[scheduler.Key]*place, error) {
	keys := make([]scheduler.Key, len(entries))
	places := make(map[scheduler.Key]*place, len(entries))
	incarnations := make(map[scheduler.Key]string, len(entries))
	for i, e := range entries {
		keys[i] = e.Key()
		places[keys[i]], incarnations[keys[i]] = &place{}, scheduler.StoredIncarnation(e.Data)
	}
	if err := r.Store.LoadJobs(ctx, keys, func(st scheduler.Stored) { places[st.Key].definition = &st }); err != nil {
		return nil, err
	}
	return places, r.Store.FindBatons(ctx, keys, func(st scheduler.Stored, _ bool) {
		p := places[st.Key]
		p.baton = true
		b, err := scheduler.DecodeBaton(st.Data)
		p.orphan = p.orphan || p.definition == nil && (err != nil || !b.IsOf(incarnations[st.Key]))
	})
}

// write writes a job's records, then its batons, then its definition, which makes the job visible. An existing baton
// without a definition is left from an interrupted restore or a lost definition. It is kept, because its progress is
// the same or newer.
func (r *restorer) write(ctx context.Context, e *Entry, p place, f restoreAction, revision uint64) error {
	k := e.Key()
	if f == replaced {
		if err := r.Store.Clear(ctx, k, nil); err != nil {
			return err
		}
		p.baton = false
	}
	for _, record := range e.Records {
		record.Cause = record.Cause.Moved()
		if err := r.Store.Append(ctx, record); err != nil {
			return err
		}
	}
	data := scheduler.MovedJob(e.Data)
	if r.Disabled {
		data = scheduler.MovedJobDisabled(e.Data, e.progress())
	} else if err := r.arm(ctx, e, p.baton, revision); err != nil {
		return err
	}
	replaces, err := r.replaces(ctx, k, p)
	if err != nil {
		return err
	}
	var had scheduler.Heard
	if p.definition != nil {
		had = scheduler.StoredLinks(p.definition.Data).Hears(k)
	}
	heard, err := registry.Prepare(ctx, r.Store.Listeners(), k, had, scheduler.StoredLinks(data).Hears(k))
	if err != nil {
		return err
	}
	if state := scheduler.StoredState(data); !state.Final() {
		_, err = r.Store.SaveJob(ctx, k, data, replaces, false)
	} else {
		end := scheduler.JobEnd{Key: k, Data: data, Replaces: replaces, Ended: scheduler.StoredEnd(data)}
		err = r.Store.EndJobs(ctx, []scheduler.JobEnd{end})[0]
	}
	if err == nil {
		err = heard.Complete(ctx)
	}
	return err
}

// replaces returns the revision that the definition overwrites: of the existing definition, or of a deleted job's
// marker.
func (r *restorer) replaces(ctx context.Context, k scheduler.Key, p place) (uint64, error) {
	if p.definition != nil {
		return p.definition.Revision, nil
	}
	st, err := r.Store.LoadJob(ctx, k)
	if errors.Is(err, scheduler.ErrNotFound) {
		return st.Revision, nil
	}
	if err == nil {
		err = fmt.Errorf("%w: it has just been put", scheduler.ErrConflict)
	}
	return 0, err
}

// arm arms the batons that the store does not have yet.
func (r *restorer) arm(ctx context.Context, e *Entry, own bool, revision uint64) error {
	now := r.Store.Now()
	for i := range e.Batons {
		b := &e.Batons[i]
		if own && b.Detached == "" {
			continue
		}
		slot := scheduler.BatonKey{Key: e.Key(), Detached: b.Detached}
		moved := b.Moved(revision, b.Running)
		err := r.Store.ScheduleAt(ctx, slot, moved.Encode(), b.ArmMoved(slot.Key, now, r.Jobs), 0)
		if err != nil && (b.Detached == "" || !errors.Is(err, scheduler.ErrConflict)) { // a conflict means that it exists
			return err
		}
	}
	return nil
}
