package client

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// Ended is a step of an occurrence toward its end.
type Ended struct {
	Job       scheduler.Key
	Record    *Record // of an attempt or the end; nil: Err states why it is missing
	Last      bool    // no record follows
	Completed bool    // and the run succeeded
	Err       error
}

// errWaited ends a wait successfully.
var errWaited = errors.New("it has ended")

// RunAndWait runs a job now, with data as for [Client.RunWith], and reports every record of that run up to the last one, or
// an error that ends the wait. The run continues after ctx is done. If the connection fails, RunAndWait waits for the server.
func (c *Client) RunAndWait(ctx context.Context, k scheduler.Key, data json.RawMessage, tell func(Ended)) {
	occurrence := ""
	err := c.await(ctx, k, func(ctx context.Context) (over bool, err error) {
		occurrence, err = c.RunWith(ctx, k, data)
		return false, err
	}, func(_ context.Context, r *Record) (over bool, err error) {
		if r.Occurrence != occurrence {
			return false, nil
		}
		e := ended(k, r)
		tell(e)
		return e.Last, nil
	})
	if err != nil {
		tell(Ended{Job: k, Last: true, Err: err})
	}
}

// Wait waits for the end of a scheduled or manual occurrence of a job and returns it. If the occurrence has already
// ended, Wait finds its end in the history. Wait reconnects if the server is down. It returns [EndedError] if the job
// is deleted.
func (c *Client) Wait(ctx context.Context, k scheduler.Key, occurrence string) (end Ended, err error) {
	due := nominal(occurrence)
	take := func(r *Record) bool {
		if !end.Last && (r.Occurrence == occurrence || skips(r, due)) {
			end = ended(k, r)
		}
		return end.Last
	}
	err = c.await(ctx, k, func(ctx context.Context) (bool, error) {
		for r, err := range c.History(ctx, HistoryQuery{Key: k, RecordFilter: scheduler.RecordFilter{Since: due}}) {
			if err != nil || take(r) {
				return end.Last, err
			}
		}
		return false, nil
	}, func(_ context.Context, r *Record) (bool, error) { return take(r), nil })
	return end, err
}

// WaitEnd waits until a job is completed or faulted, and returns it. A disabled job, or one without an end, never ends.
// WaitEnd returns [EndedError] if the job is deleted.
func (c *Client) WaitEnd(ctx context.Context, k scheduler.Key) (*Job, error) {
	ctx, stop := context.WithCancelCause(ctx)
	recorded := make(chan struct{}, 1)
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		stop(c.Follow(ctx, Follow{HistoryQuery: HistoryQuery{Key: k}, Lost: func(error) {}, Record: func(*Record) {
			flow.Signal(recorded)
		}}))
	}()
	defer func() { stop(nil); <-followed }()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		j, err := c.Get(ctx, k)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil && !errors.Is(err, scheduler.ErrUnavailable):
			return nil, err
		case err == nil && (j.State == scheduler.Completed || j.State == scheduler.Faulted):
			return j, nil
		}
		select {
		case <-recorded:
			pause = soon // the state follows the last record after a moment
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// soon is the first pause after a record.
const soon = 5 * time.Millisecond

// await follows the history of a job until one of two functions ends the wait: begun, called when the tail is
// established, and take, called for each record.
func (c *Client) await(
	ctx context.Context, k scheduler.Key, begun func(context.Context) (over bool, err error),
	take func(context.Context, *Record) (over bool, err error),
) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	settle := func(over bool, err error) {
		switch {
		case err != nil:
			stop(err)
		case over:
			stop(errWaited)
		}
	}
	err := c.Follow(ctx, Follow{
		HistoryQuery: HistoryQuery{Key: k},
		Begun: func(ctx context.Context) error {
			over, err := begun(ctx)
			if over && err == nil {
				err = errWaited
			}
			return err
		},
		Record: func(r *Record) {
			if ctx.Err() == nil {
				settle(take(ctx, r))
			}
		},
		Lost: func(error) {},
	})
	if errors.Is(err, errWaited) {
		return nil
	}
	return err
}

// nominal returns the instant in an occurrence's id, <collection>/<job>@<instant>; zero if it has none.
func nominal(occurrence string) time.Time {
	_, text, _ := strings.Cut(occurrence, "@")
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// skips reports whether a record marks a scheduled occurrence as skipped.
func skips(r *Record, due time.Time) bool {
	return isOutcome(r, scheduler.OutcomeSkipped) && !r.From.IsZero() && !due.IsZero() && !due.Before(r.From) && !due.After(r.To)
}

// ended returns the step that a record represents.
func ended(k scheduler.Key, r *Record) Ended {
	completed := isOutcome(r, scheduler.OutcomeCompleted) && r.Action == "MainAction"
	last := completed || isOutcome(r, scheduler.OutcomeFaulted) || isOutcome(r, scheduler.OutcomeSkipped)
	return Ended{Job: k, Record: r, Last: last, Completed: completed}
}

func isOutcome(r *Record, o scheduler.Outcome) bool { return strings.EqualFold(r.Status, string(o)) }
