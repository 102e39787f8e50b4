package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/why"
)

type accountCmd struct {
	remote.Server
	remote.Within
	remote.Picked

	Names []string `arg:"" name:"job" optional:"" help:"Names of jobs: job, or collection/job. Default: all jobs of the collection."`
	From  string   `required:"true" help:"Where the period begins: 2026-03-08, 2026-03-08T02:30Z, or 2h, which is two hours ago." placeholder:"TIME"`
	To    string   `help:"Where the period ends, exclusive. Default: now." placeholder:"TIME"`
}

// Help shows examples.
func (accountCmd) Help() string {
	return `Lists every instant that was due in a period, with the record that says how it ended: completed, faulted, skipped or
postponed; or pending, while the job has yet to record it. "missing" has no record, and "unended" only a failed or
deferred attempt: nothing will record how these ended. Manual runs of the period are listed, too.

The exit code is 1 if any instant lacks a record of its end, or if the scheduler no longer has the records or the
definitions of a part of the period.

A schedule that counts from its last run (@recur, or an anchor) has no instants before it runs: its jobs are listed by
their records alone. Each job is one request.

Examples:

    carillon account --from 24h
    carillon account billing/report --from 2026-03-08T00:00Z --to 2026-03-09T00:00Z
    carillon account -A -l team=billing --from 2h --json`
}

// Run accounts for the jobs.
func (c accountCmd) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	now := time.Now()
	from, err := t.Moment("from", c.From, now)
	if err != nil {
		return err
	}
	var to string
	if c.To != "" {
		until, err := t.Moment("to", c.To, now)
		switch {
		case err != nil:
			return err
		case !from.Before(until):
			return terminal.Usagef("--to must be after --from")
		}
		to = until.UTC().Format(time.RFC3339Nano)
	}
	keys, err := c.keys(ctx, api)
	if err != nil {
		return err
	}
	accounts := []*why.Account{}
	for _, k := range keys {
		for at := from; !at.IsZero(); {
			a, err := api.Account(ctx, k, at.UTC().Format(time.RFC3339Nano), to)
			if errors.Is(err, scheduler.ErrNotFound) && len(c.Names) == 0 {
				break // deleted since it was listed
			}
			if err != nil {
				return fmt.Errorf("%s: %w", k, err)
			}
			accounts, at = append(accounts, a), a.Next
		}
	}
	return reported(t, len(keys), accounts)
}

// keys returns the jobs that are named or, when none is, picked.
func (c accountCmd) keys(ctx context.Context, api *client.Client) (keys []scheduler.Key, err error) {
	for _, name := range c.Names {
		k, err := c.Key(name)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	if len(c.Names) > 0 {
		if c.Labels != "" || c.AllCollections {
			err = terminal.Usagef("names of jobs go neither with --selector nor with --all-collections")
		}
		return keys, err
	}
	q, err := c.Query(c.Within)
	if err != nil {
		return nil, err
	}
	jobs, err := client.Collect(api.List(ctx, q), 0)
	for _, j := range jobs {
		keys = append(keys, j.Key())
	}
	return keys, err
}

// reported shows accounts, and returns an error if they are incomplete.
func reported(t *terminal.Terminal, jobs int, accounts []*why.Account) error {
	var rows [][]string
	var due, lacking, unknown int
	for _, a := range accounts {
		due, lacking = due+a.Due, lacking+a.Lacking
		for _, row := range a.Rows {
			rows = append(rows, accountRow(t, a.Job, row))
		}
		for _, gap := range a.Unknown {
			if gap.Reason != why.GapMoves {
				unknown++
			}
			from, to := t.Time(gap.From, terminal.Dated), t.Time(gap.To, terminal.Dated)
			rows = append(rows, []string{a.Job, from, to, "", "unknown", gap.Reason, ""})
		}
	}
	if t.JSON {
		if err := t.PrintJSON(terminal.List[*why.Account]{Value: accounts}); err != nil {
			return err
		}
	} else {
		if err := t.Table([]string{"JOB", "AT", "TO", "COUNT", "OUTCOME", "REASON", "RECORD"}, rows); err != nil {
			return err
		}
		t.Printf("%s of %s, %d without a record of its end\n", terminal.Plural(due, "instant", "instants"),
			terminal.Plural(jobs, "job", "jobs"), lacking)
	}
	switch {
	case lacking > 0:
		return terminal.Hinted(fmt.Errorf("%s without a record of the end", terminal.Plural(lacking, "instant", "instants")),
			"carillon why JOB --at TIME explains one; carillon doctor looks for jobs that have lost their batons")
	case unknown > 0:
		return terminal.Hinted(errors.New("a part of the period cannot be accounted for"),
			"--from a later time; --history-age and --history-per-job of the scheduler say how many records are kept")
	}
	return nil
}

// accountRow shows a row of an account.
func accountRow(t *terminal.Terminal, job string, row why.AccountRow) []string {
	to, record, colour := "", "", terminal.Green
	if !row.To.IsZero() {
		to = t.Time(row.To, terminal.Dated)
	}
	if row.Record != 0 {
		record = strconv.FormatUint(row.Record, 10)
	}
	switch {
	case row.Outcome.Lacks(), row.Outcome == why.SettledFaulted:
		colour = terminal.Red
	case row.Outcome != why.SettledCompleted:
		colour = terminal.Yellow
	}
	reason := string(row.Reason)
	if row.Manual {
		reason = "manual"
	}
	return []string{job, t.Time(row.At, terminal.Dated), to, strconv.Itoa(row.Count), t.Paint(colour, string(row.Outcome)), reason, record}
}
