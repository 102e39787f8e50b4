package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
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
	var f fate
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
func (r *restorer) refused(f fate, e *Entry) error {
	if r.dry || f != conflict {
		return nil
	}
	return fmt.Errorf("%s %s: %w: something else was put under its name meanwhile", e.Kind, e.Name, scheduler.ErrConflict)
}
