package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/view"
)

type resubmitCmd struct {
	remote.Server
	remote.Within
	remote.Picked

	Name       string `arg:"" optional:"" name:"job" help:"Name of a job: job, or collection/job."`
	Occurrence string `arg:"" optional:"" help:"What to run again: its time by the schedule, or the id of the occurrence, of an attempt or of a record, as the history has them."`
	Force      bool   `help:"Also what succeeded."`

	FailedSince string `help:"Run again all that failed from this time on: 12:00, 2026-03-08T02:30Z, or 2h, which is two hours ago." placeholder:"TIME"`
	Until       string `help:"With --failed-since: the end of the period. Default: now." placeholder:"TIME"`
	Target      string `help:"With --failed-since: only calls of this host, or host and port." placeholder:"HOST"`
	DryRun      bool   `help:"With --failed-since: only show what would run again."`
	Rate        string `help:"With --failed-since: how many a second, such as 10/s." placeholder:"N/s"`
	Yes         bool   `short:"y" help:"With --failed-since: do not ask whether all that failed is meant."`
}

// Help shows examples.
func (resubmitCmd) Help() string {
	return `An occurrence that failed, was skipped or was postponed runs once more, by hand: its action is told the same time by
the schedule, and its records in the history name the occurrence that it repeats. What succeeded, or has not ended, is a
conflict (exit code 4), and so is a job that is running.

With --failed-since, the scheduler resubmits every occurrence of a period that failed, once: in the collection, in all
collections with -A, or of jobs with labels. It skips occurrences whose resubmission succeeded. The occurrences of one
job run one after the other. They are listed first, and you are asked whether they are meant; without a terminal, --yes
confirms.

Examples:

    carillon resubmit -A --failed-since 12:00 --target api.example.com --dry-run
    carillon resubmit -c billing --failed-since 2h --until 1h --rate 10/s --yes
    carillon resubmit report 2026-03-02T09:00:00Z
    carillon resubmit report billing/report@2026-03-02T09:00:00Z --force -c billing`
}

// Run resubmits the occurrence.
func (c resubmitCmd) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	switch {
	case c.FailedSince != "" && c.Name != "":
		return terminal.Usagef("--failed-since goes without a job; -l or -c pick jobs")
	case c.FailedSince != "":
		return c.failed(ctx, t, api)
	case c.Occurrence == "":
		return terminal.Hinted(terminal.Usagef("which occurrence of which job?"), "--failed-since runs all again that failed since a time")
	}
	k, err := c.Key(c.Name)
	if err != nil {
		return err
	}
	v, err := api.Resubmit(ctx, k, c.Occurrence, c.Force)
	switch {
	case err != nil:
		return err
	case t.JSON:
		return t.PrintJSON(v)
	}
	t.Printf("%-9s %s, which repeats %s\n", "started", v.Occurrence, v.Resubmits)
	return nil
}

// failed resubmits what failed in a period.
func (c resubmitCmd) failed(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	q, err := c.Query(c.Within)
	if err != nil {
		return err
	}
	b := client.Bulk{Verb: view.VerbResubmit, Collection: q.Collection, Labels: q.Labels, Target: c.Target}
	now := time.Now()
	for _, at := range []struct {
		flag, text string
		to         *string
	}{{"failed-since", c.FailedSince, &b.FailedSince}, {"until", c.Until, &b.FailedUntil}} {
		if at.text == "" {
			continue
		}
		instant, err := t.Moment(at.flag, at.text, now)
		if err != nil {
			return err
		}
		*at.to = instant.Format(time.RFC3339Nano)
	}
	if c.Rate != "" {
		if b.Rate, err = strconv.ParseFloat(strings.TrimSuffix(c.Rate, "/s"), 64); err != nil || b.Rate <= 0 {
			return terminal.Usagef("--rate: %q is not a rate such as 10/s", c.Rate)
		}
	}
	if !c.Yes || c.DryRun {
		if yes, err := c.preview(ctx, t, api, b); err != nil || !yes {
			return err
		}
	}
	op, err := api.CreateOperation(ctx, b)
	if err != nil {
		return err
	}
	return remote.Follow(ctx, t, api, op)
}

// preview lists what would run again. It reports whether that is confirmed.
func (c resubmitCmd) preview(ctx context.Context, t *terminal.Terminal, api *client.Client, b client.Bulk) (bool, error) {
	b.DryRun = true
	op, err := api.CreateOperation(ctx, b)
	if err == nil && c.DryRun && t.JSON {
		err = t.PrintJSON(op)
		return false, err
	}
	if err != nil {
		return false, err
	}
	what := terminal.Plural(op.Expected, "occurrence", "occurrences")
	occurrences := make([]string, len(op.Failures))
	for i, f := range op.Failures {
		occurrences[i] = f.Occurrence
	}
	switch {
	case c.DryRun:
		for _, occurrence := range occurrences {
			t.Printf("%s\n", occurrence)
		}
		t.Printf("%s would run again\n", what)
		return false, nil
	case op.Expected == 0:
		t.Complain("hint", "no occurrence matches")
		return false, nil
	}
	return remote.Meant(ctx, t, b.Verb, what, "--dry-run lists them", occurrences)
}
