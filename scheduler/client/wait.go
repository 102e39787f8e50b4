package client

import (
	"context"
	"errors"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
)

// Ended is a step of a run by hand on its way to the end.
type Ended struct {
	Job       scheduler.Key
	Record    *Record // of an attempt, or of the end; nil: Err says why there is none
	Last      bool    // nothing follows
	Completed bool    // and it did what it was asked to
	Err       error
}

// errWaited ends a wait: the last record has come.
var errWaited = errors.New("the run has ended")

// RunAndWait runs a job now, and tells of every record of that run until its last one, or of an error that ends the wait.
// The run goes on when ctx is done. A server that goes away meanwhile is waited for.
func (c *Client) RunAndWait(ctx context.Context, k scheduler.Key, tell func(Ended)) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	occurrence := ""
	err := c.Follow(ctx, Follow{
		HistoryQuery: HistoryQuery{Key: k},
		Begun: func(ctx context.Context) (err error) {
			occurrence, err = c.Run(ctx, k)
			return err
		},
		Record: func(r *Record) {
			if r.Occurrence != occurrence || ctx.Err() != nil {
				return
			}
			e := ended(k, r)
			tell(e)
			if e.Last {
				stop(errWaited)
			}
		},
		Lost: func(error) {},
	})
	if !errors.Is(err, errWaited) {
		tell(Ended{Job: k, Last: true, Err: err})
	}
}

// ended is what a record says of the run that it is of.
func ended(k scheduler.Key, r *Record) Ended {
	completed := isOutcome(r, scheduler.OutcomeCompleted) && r.Action == "MainAction"
	return Ended{Job: k, Record: r, Last: completed || isOutcome(r, scheduler.OutcomeFaulted), Completed: completed}
}

func isOutcome(r *Record, o scheduler.Outcome) bool { return strings.EqualFold(r.Status, string(o)) }
