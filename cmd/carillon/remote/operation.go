package remote

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// Picks reports whether jobs are picked, and not named.
func (s Jobs) Picks() bool { return s.Filters() || s.All }

// Operate has the scheduler do something to the jobs that are picked, and follows its progress.
func (s Jobs) Operate(ctx context.Context, t *terminal.Terminal, api *client.Client, b v1.OperationRequest) error {
	if !s.Yes {
		keys, err := s.Keys(ctx, t, api, b.Verb, true)
		if err != nil || len(keys) == 0 {
			return err
		}
	}
	q, err := s.query()
	if err != nil {
		return err
	}
	b.Labels, b.Target, b.All, b.Collection = q.Labels, q.Target, s.All, q.Collection
	op, err := api.CreateOperation(ctx, b)
	switch {
	case err != nil:
		return err
	case op.Expected == 0:
		t.Complain("hint", noJobs)
		return nil
	}
	return Follow(ctx, t, api, op)
}

// Rate parses the maximum rate of an operation, such as 10/s; "" is 0.
func Rate(text string) (rate float64, err error) {
	if text == "" {
		return 0, nil
	}
	if rate, err = strconv.ParseFloat(strings.TrimSuffix(text, "/s"), 64); err != nil || rate <= 0 {
		return 0, terminal.Usagef("--rate: %q is not a rate such as 10/s", text)
	}
	return rate, nil
}

// Perform lists the jobs or occurrences of an operation, and starts it if the user confirms it. It does not ask with yes,
// and does not start it with dryRun. look is as for [Confirm].
func Perform(
	ctx context.Context, t *terminal.Terminal, api *client.Client, b v1.OperationRequest, look string, dryRun, yes bool,
) error {
	if !yes || dryRun {
		if yes, err := preview(ctx, t, api, b, look, dryRun); err != nil || !yes {
			return err
		}
	}
	return Start(ctx, t, api, b)
}

// Start starts an operation, and follows its progress.
func Start(ctx context.Context, t *terminal.Terminal, api *client.Client, b v1.OperationRequest) error {
	op, err := api.CreateOperation(ctx, b)
	if err != nil {
		return err
	}
	return Follow(ctx, t, api, op)
}

// preview lists the jobs or occurrences of an operation, and reports whether the user has confirmed them.
func preview(
	ctx context.Context, t *terminal.Terminal, api *client.Client, b v1.OperationRequest, look string, only bool,
) (bool, error) {
	b.DryRun = true
	op, err := api.CreateOperation(ctx, b)
	if err == nil && only && t.JSON {
		err = t.PrintJSON(op)
		return false, err
	}
	if err != nil {
		return false, err
	}
	what, none, all := terminal.Plural(op.Expected, "job", "jobs"), noJobs, op.Jobs
	if b.Verb == v1.VerbResubmit {
		what, none, all = terminal.Plural(op.Expected, "occurrence", "occurrences"), "no occurrence matches", nil
		for _, f := range op.Failures {
			all = append(all, f.Occurrence)
		}
	}
	switch {
	case only:
		for _, one := range all {
			t.Printf("%s\n", one)
		}
		t.Printf("%s would run again\n", what)
		return false, nil
	case op.Expected == 0:
		t.Complain("hint", none)
		return false, nil
	}
	return Confirm(ctx, t, b.Verb, what, look, all)
}

// followEvery is how often the scheduler is asked for the progress of an operation.
const followEvery = 200 * time.Millisecond

// Follow waits for the end of an operation, and shows it. An interrupt leaves it running.
func Follow(ctx context.Context, t *terminal.Terminal, api *client.Client, op *v1.Operation) error {
	id, collection := op.ID, op.Collection
	for shown := ""; !op.HasEnded(); {
		if now := Progress(op); t.Watched() && now != shown {
			shown = now
			t.Errorf("%s %s\n", op.Verb, now)
		}
		var err error
		select {
		case <-time.After(followEvery):
			op, err = api.Operation(ctx, id, collection)
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			scope := ""
			if collection != "" {
				scope = " -c " + collection
			}
			return terminal.Hinted(err, fmt.Sprintf(
				`the operation continues: "carillon operation show %[1]s --follow%[2]s" follows it, `+
					`"carillon operation cancel %[1]s%[2]s" stops it`,
				id, scope,
			))
		}
	}
	return ShowOperation(t, op)
}

// Progress is how far an operation is: "1200 of 3000".
func Progress(op *v1.Operation) string {
	return fmt.Sprintf("%d of %d", op.Done, max(op.Done, op.Expected))
}

// ShowOperation prints an operation. Once the operation has ended, its failures are an error.
func ShowOperation(t *terminal.Terminal, op *v1.Operation) error {
	if t.JSON {
		if err := t.PrintJSON(op); err != nil {
			return err
		}
	} else {
		what := []string{}
		for _, result := range v1.OperationResults {
			if n := op.Counts[result]; n > 0 {
				what = append(what, fmt.Sprintf("%d %s", n, result))
			}
		}
		if len(what) == 0 {
			what = []string{"nothing done"}
		}
		took := ""
		if !op.Ended.IsZero() {
			took = " in " + op.Ended.Sub(op.Created).Round(10*time.Millisecond).String()
		}
		t.Printf("%s %s: %s%s (operation %s)\n", op.Verb, op.State, strings.Join(what, ", "), took, op.ID)
	}
	Continuing(t, op.Begun, op.StopRetries)
	var failed []error
	for _, f := range op.Failures {
		name := f.Job
		if f.Occurrence != "" {
			name = f.Occurrence
		}
		if !t.JSON {
			t.Complain("error", fmt.Sprintf("%s: %s", name, f.Message))
		}
		failed = append(failed, &terminal.Failure{Path: name, Message: f.Message, Err: errFailed})
	}
	return terminal.Reported(failed...)
}

// errFailed is a job for which an operation failed.
var errFailed = errors.New("the operation failed for the job")
