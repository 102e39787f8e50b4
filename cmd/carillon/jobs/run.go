package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/cmd/carillon/printer"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// Run runs jobs now.
type Run struct {
	remote.Jobs

	Data    string        `help:"Values for the job's templates, a JSON object. The history shows them." placeholder:"JSON"`
	Wait    bool          `short:"w" help:"Wait for the runs to end and print the outcomes."`
	Timeout time.Duration `help:"With --wait: maximum wait. The runs continue after it." default:"0s" placeholder:"DURATION"`
}

// Run runs jobs.
func (c Run) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
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
	return remote.EachOf(ctx, t, "job", keys, func(k scheduler.Key) (_ string, err error) {
		occurrences[k], err = api.RunWith(ctx, k, data)
		return "started", err
	}, func(k scheduler.Key) map[string]any { return map[string]any{"occurrence": occurrences[k]} })
}

// errFaulted reports a run that did not complete; its record has the reason.
var errFaulted = errors.New("the run faulted")

// errTime is the cause of a wait that has timed out.
var errTime = errors.New("the time is up")

// await runs jobs concurrently and waits for them.
func (c Run) await(ctx context.Context, t *terminal.Terminal, api *client.Client, keys []scheduler.Key, data json.RawMessage) error {
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
		_ = g.Wait() // each reports its own outcome
		close(events)
	}()
	r := runs{t: t, lines: printer.New(t, terminal.Clock), timeout: c.Timeout}
	for e := range events {
		r.take(e)
	}
	return r.end()
}

// runs collects the results of awaited runs.
type runs struct {
	t       *terminal.Terminal
	lines   *printer.Printer
	timeout time.Duration
	last    []json.RawMessage // the last records
	failed  []error
	gone    error // why the wait was aborted
}

// take prints a record and collects errors.
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
		message := fmt.Sprintf("has not ended within %s; the run continues", r.timeout)
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

// fail records an error that was already printed for people.
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

// Resubmit runs occurrences again.
type Resubmit struct {
	remote.Server
	remote.Within
	remote.Picked

	Name       string `arg:"" optional:"" name:"job" help:"Name of a job: job, or collection/job."`
	Occurrence string `arg:"" optional:"" help:"Occurrence to rerun: its scheduled time, or the id of the occurrence, an attempt or a record in the history."`
	Force      bool   `help:"Rerun successful occurrences too."`

	FailedSince string `help:"Rerun all occurrences that failed since this time: 12:00, 2026-03-08T02:30Z, or 2h (two hours ago)." placeholder:"TIME"`
	Until       string `help:"With --failed-since: the end of the period. Default: now." placeholder:"TIME"`
	DryRun      bool   `help:"With --failed-since: only list the occurrences."`
	Rate        string `help:"With --failed-since: maximum rate, such as 10/s." placeholder:"N/s"`
	Yes         bool   `short:"y" help:"With --failed-since: do not ask for confirmation."`
}

// Run resubmits the occurrence.
func (c Resubmit) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	switch {
	case c.FailedSince != "" && c.Name != "":
		return terminal.Usagef("--failed-since goes without a job; -l or -c pick jobs")
	case c.FailedSince != "":
		return c.failed(ctx, t, api)
	case c.Occurrence == "":
		return terminal.Hinted(terminal.Usagef("name a job and an occurrence"),
			"or rerun all failed occurrences since a time with --failed-since")
	}
	k, err := c.Key(c.Name)
	if err != nil {
		return err
	}
	v, err := api.Resubmit(ctx, k, c.Occurrence, c.Force)
	return terminal.PrintOne(t, v, err, func(v *v1.Resubmitted) {
		t.Printf("%-9s %s, which repeats %s\n", "started", v.Occurrence, v.Resubmits)
	})
}

// failed resubmits what failed in a period.
func (c Resubmit) failed(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	q, err := c.Query(c.Within)
	if err != nil {
		return err
	}
	b := v1.OperationRequest{Verb: v1.VerbResubmit, Collection: q.Collection}
	b.Labels, b.Target = q.Labels, q.Target
	now := time.Now()
	since, err := t.Moment("failed-since", c.FailedSince, now)
	if err != nil {
		return err
	}
	b.FailedSince = since.Format(time.RFC3339Nano)
	if c.Until != "" {
		until, err := t.Moment("until", c.Until, now)
		if err != nil {
			return err
		}
		b.FailedUntil = until.Format(time.RFC3339Nano)
	}
	if b.Rate, err = remote.Rate(c.Rate); err != nil {
		return err
	}
	return remote.Perform(ctx, t, api, b, "--dry-run lists them", c.DryRun, c.Yes)
}

// Cancel cancels occurrences in progress.
type Cancel struct {
	remote.Server
	remote.Within

	Name   string `arg:"" name:"job|run" help:"A job, for all its started occurrences, or the id of an occurrence or attempt in the history."`
	Reason string `help:"Reason, for the history and the audit log." placeholder:"TEXT"`
	DryRun bool   `name:"dry-run" help:"Show what would be canceled."`
}

// Run cancels the occurrences.
func (c Cancel) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	name, instant, one := strings.Cut(c.Name, "@")
	k, err := c.Key(name)
	if err != nil {
		return err
	}
	o := v1.CancelRequest{Reason: c.Reason, DryRun: c.DryRun}
	if one {
		o.Occurrence = k.String() + "@" + instant
	}
	v, err := api.Cancel(ctx, k, o)
	return terminal.PrintOne(t, v, err, func(v *v1.Cancellation) {
		done := "canceled"
		if v.DryRun {
			done = "active"
		}
		for _, id := range v.Occurrences {
			t.Printf("%-9s %s\n", done, id)
		}
	})
}

// Disable disables jobs.
type Disable struct {
	remote.Jobs

	StopRetries bool `name:"stop-retries" help:"Also cancel attempts in flight and waiting retries."`
}

// Run disables the jobs.
func (c Disable) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	if c.Picks() {
		return c.Operate(ctx, t, api, v1.OperationRequest{Verb: "disable", StopRetries: c.StopRetries})
	}
	keys, err := c.Keys(ctx, t, api, "disable", true)
	if err != nil {
		return err
	}
	all, of := 0, map[scheduler.Key]int{}
	defer func() { remote.Continuing(t, all, c.StopRetries) }()
	word := "continuing"
	if c.StopRetries {
		word = "canceled"
	}
	return remote.EachOf(ctx, t, "job", keys, func(k scheduler.Key) (string, error) {
		j, err := api.Disable(ctx, k)
		if err != nil {
			return "", err
		}
		v, err := api.Cancel(ctx, k, v1.CancelRequest{Reason: remote.StopReason, DryRun: !c.StopRetries})
		if errors.Is(err, scheduler.ErrConflict) {
			err = nil // no occurrence has started
		}
		of[k] = len(v.Occurrences)
		all += of[k]
		return resultOf(j, "disabled"), err
	}, func(k scheduler.Key) map[string]any {
		if of[k] == 0 {
			return nil
		}
		return map[string]any{word: of[k]}
	})
}
