package main

import (
	"context"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/printer"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/why"
)

type whyCmd struct {
	remote.Server
	remote.Within

	Name string `arg:"" name:"job" help:"Name of a job: job, or collection/job."`
	At   string `help:"The time in question: 2026-03-08T02:30 on the job's clock, 2026-03-08T07:30Z, now, 2h or -2h, which is two hours ago, or +2h. Default: the latest that did not run, else the next." placeholder:"TIME"`
}

// Help shows examples.
func (whyCmd) Help() string {
	return `Tells why a job ran at a time, or did not: that it ran, and how late; that it failed, with each attempt; that it was
skipped, and for what reason; that it waits for its target or its collection; that nothing was due, with the
occurrences before and after; that it was disabled, was not there yet, or had another schedule; or that the history
does not go back that far. A time without seconds means all of its minute. Without --at the answer is about the
latest time that did not run, else the next; a job that is disabled or paused, or whose collection is disabled, says so.

A time without an offset is on the clock of the job's time zone, as the schedule is. The answer has times on that clock
and in UTC.

Examples:

    carillon why report
    carillon why report --at 2026-03-08T02:30
    carillon why billing/report --at 2026-03-08T07:30:00Z
    carillon why report --at 2h
    carillon why report --at +30m
    carillon why report --json`
}

// Run asks why.
func (c whyCmd) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	k, err := c.Key(c.Name)
	if err != nil {
		return err
	}
	at := c.At
	if _, err := document.ParseDuration(at); err == nil { // as with history: 2h is two hours ago
		at = "-" + at
	}
	if _, err := why.ParseMoment(at, time.UTC, time.Now()); at != "" && err != nil {
		return terminal.Usagef("--at: %s", err)
	}
	r, err := api.Why(ctx, k, at)
	if err != nil {
		return err
	}
	if t.JSON {
		return t.PrintJSON(r.Document)
	}
	printReasons(t, &r.Answer)
	return nil
}

// printReasons prints an answer for people.
func printReasons(t *terminal.Terminal, a *why.Answer) {
	printer.Field(t, "Job", a.Job)
	both := func(local string, utc time.Time) string {
		if a.TimeZone == "UTC" {
			return utc.Format(time.RFC3339Nano)
		}
		return local + " " + a.TimeZone + ", " + utc.Format(time.RFC3339Nano)
	}
	printer.Field(t, "Time", both(a.Local, a.At))
	printer.Field(t, "Outcome", t.Paint(colourOf(a.Code), string(a.Code)))
	printer.Field(t, "Answer", a.Answer)
	printer.Field(t, "Occurrence", a.Occurrence)
	printer.Field(t, "By", a.By)
	if a.Before != nil {
		printer.Field(t, "Before", both(a.Before.Local, a.Before.UTC))
	}
	if a.After != nil {
		printer.Field(t, "After", both(a.After.Local, a.After.UTC))
	}
	for _, note := range a.Notes {
		printer.Field(t, "Note", note)
	}
	if len(a.Records) > 0 {
		t.Printf("\n")
	}
	p := printer.New(t, terminal.Dated)
	for i := range a.Records {
		p.Print(&client.Record{RecordForm: a.Records[i], Job: a.Job})
	}
	if a.Hint != "" {
		t.Complain("hint", a.Hint)
	}
}

// colourOf paints good news green, and bad news red.
func colourOf(c why.Code) string {
	switch c { //nolint:exhaustive // the others are neither
	case why.Ran, why.Running, why.Planned:
		return terminal.Green
	case why.Failed, why.Overdue, why.Unrecorded, why.Damaged:
		return terminal.Red
	}
	return terminal.Yellow
}
