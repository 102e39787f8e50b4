package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/cmd/carillon/printer"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
)

type runCmd struct {
	remote.Jobs

	Data    string        `help:"Values for the job's templates, a JSON object. The history shows them." placeholder:"JSON"`
	Wait    bool          `short:"w" help:"Wait until the runs have ended, and print how."`
	Timeout time.Duration `help:"With --wait: how long to wait at most. The runs go on." default:"0s" placeholder:"DURATION"`
}

// Help shows examples.
func (runCmd) Help() string {
	return `The schedule goes on as planned, and the run does not count for recurrence.count. A disabled job runs once. A
job that is running or waits for a retry is a conflict (exit code 4).

With --data the run gives values to the job's templates as {{.Data.order}}, over those in the job's data. The job's field
input, a JSON Schema, says what is accepted. The history shows the values, and retries and resubmissions keep them.

With --wait every attempt is printed, retries too. The exit code is 0 when all runs completed, and 1 when one faulted,
which is when its retries are used up, or when the time is.

Jobs are named, or picked by their labels or all of a collection; for all of them you are asked whether that is meant.

Examples:

    carillon run hello
    carillon run billing/report billing/invoices
    carillon run ship --data '{"order": 7}'
    carillon run report --wait --timeout 5m
    carillon run -l team=billing --wait --json`
}

// Run runs jobs.
func (c runCmd) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	switch {
	case c.Timeout < 0:
		return terminal.Usagef("--timeout: %s is negative", c.Timeout)
	case c.Timeout > 0 && !c.Wait:
		return terminal.Usagef("--timeout goes with --wait")
	}
	var data json.RawMessage
	if c.Data != "" {
		data = json.RawMessage(c.Data)
		if !json.Valid(data) {
			return terminal.Usagef("--data: is not valid JSON: quote it for your shell, as in --data '{\"order\": 7}'")
		}
	}
	keys, err := c.Keys(ctx, t, api, "run", c.All)
	if err != nil {
		return err
	}
	if c.Wait {
		return c.await(ctx, t, api, keys, data)
	}
	occurrences := map[scheduler.Key]string{}
	return remote.EachOf(ctx, t, keys, "started", func(k scheduler.Key) (err error) {
		occurrences[k], err = api.RunWith(ctx, k, data)
		return err
	}, func(k scheduler.Key) any {
		return map[string]string{"job": k.String(), "occurrence": occurrences[k], "result": "started"}
	})
}

// errFaulted is a run that did not complete, whose record tells why.
var errFaulted = errors.New("the run faulted")

// errTime is why a wait ends by itself.
var errTime = errors.New("the time is up")

// await runs jobs side by side and waits for them.
func (c runCmd) await(ctx context.Context, t *terminal.Terminal, api *client.Client, keys []scheduler.Key, data json.RawMessage) error {
	if c.Timeout > 0 {
		timed, cancel := context.WithTimeoutCause(ctx, c.Timeout, errTime)
		defer cancel()
		ctx = timed
	}
	const sideBySide = 16
	events := make(chan client.Ended)
	go func() {
		var g errgroup.Group
		g.SetLimit(sideBySide)
		for _, k := range keys {
			g.Go(func() error {
				api.RunAndWait(ctx, k, data, func(e client.Ended) { events <- e })
				return nil
			})
		}
		_ = g.Wait() // each tells of its own end
		close(events)
	}()
	r := runs{t: t, lines: printer.New(t, terminal.Clock), timeout: c.Timeout}
	for e := range events {
		r.take(e)
	}
	return r.end()
}

// runs are runs that are waited for.
type runs struct {
	t       *terminal.Terminal
	lines   *printer.Printer
	timeout time.Duration
	last    []json.RawMessage // the last records
	failed  []error
	gone    error // why none can be waited for
}

// take prints a record, and notes what went wrong.
func (r *runs) take(e client.Ended) {
	switch {
	case e.Record != nil && !r.t.JSON:
		r.lines.Print(e.Record)
	case e.Record != nil && e.Last:
		r.last = append(r.last, e.Record.Document)
	}
	switch {
	case errors.Is(e.Err, scheduler.ErrUnavailable), errors.Is(e.Err, context.Canceled):
		r.gone = e.Err
	case errors.Is(e.Err, errTime):
		message := fmt.Sprintf("has not ended within %s; the run goes on", r.timeout)
		r.t.Complain("error", fmt.Sprintf("job %s: %s", e.Job, message))
		r.fail(e.Job, message, errTime)
	case e.Err != nil:
		if !r.t.JSON {
			r.t.Fail(e.Err)
		}
		r.fail(e.Job, e.Err.Error(), e.Err)
	case e.Last && !e.Completed:
		r.fail(e.Job, errFaulted.Error(), errFaulted)
	}
}

// fail notes what went wrong, which people were told.
func (r *runs) fail(k scheduler.Key, message string, err error) {
	r.failed = append(r.failed, &terminal.Failure{Path: k.String(), Message: message, Err: err})
}

// end is the end of all runs.
func (r *runs) end() error {
	if r.t.JSON {
		_ = r.t.PrintJSON(terminal.List[json.RawMessage]{Value: append([]json.RawMessage{}, r.last...)}) // they came over the API
	}
	if r.gone != nil {
		return r.gone
	}
	return terminal.Reported(r.failed...)
}
