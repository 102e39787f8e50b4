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

// RestoreConfig says what [Plan] and [Restore] work with. Store is required.
type RestoreConfig struct {
	Store Store

	// Existing says what becomes of what is there under a name that the backup has, too. Default: [Refuse].
	Existing Existing

	// Disabled lets jobs come disabled, with the progress that they had. Those at their end stay there.
	Disabled bool

	// Tokens restores access tokens, too.
	Tokens bool

	// Sign makes a stored token of the backup one of this store; see tokens.Keeper. Default: it stays as it is, and
	// cannot be verified.
	Sign func(ctx context.Context, id string, data []byte, create bool) ([]byte, error)

	// Progress is called with how many jobs are done with, from time to time and never twice at once. Default: none.
	Progress func(jobs int)

	// Jobs is how many jobs the backup has, as far as is known: it spreads those over time that are overdue.
	Jobs int
}

// Plan tells what [Restore] would do. It reads, and writes nothing.
func Plan(ctx context.Context, cfg RestoreConfig, from *Reader) (*Report, error) {
	return (&restorer{RestoreConfig: cfg, dry: true}).run(ctx, from)
}

// Restore writes what a backup has into a store. The backup was read before, from its beginning to its end ([Verify]), and
// what is in the way as well ([Plan]), so that nothing is written of one that is damaged or refused. It may be repeated,
// and then goes on. The error matches [scheduler.ErrConflict] when somebody has put something in the way meanwhile.
func Restore(ctx context.Context, cfg RestoreConfig, from *Reader) (*Report, error) {
	return (&restorer{RestoreConfig: cfg}).run(ctx, from)
}

// restorer restores one backup, or looks what that would do.
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

// tries is how often something is written that another process changes at the same moment, or that the store does not take.
const tries = 8

// pause is how long it waits in between.
const pause = 250 * time.Millisecond

// again repeats a step until the store takes it, and nobody gets in its way. Each step looks first, so a try whose answer was
// lost does no harm.
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

// restoreValue restores what is no job.
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

// refused is the error of a conflict that was not there when the restore was planned.
func (r *restorer) refused(f fate, e *Entry) error {
	if r.dry || f != conflict {
		return nil
	}
	return fmt.Errorf("%s %s: %w: something else was put under its name meanwhile", e.Kind, e.Name, scheduler.ErrConflict)
}
