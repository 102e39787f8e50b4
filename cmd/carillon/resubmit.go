package main

import (
	"context"

	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/client"
)

type resubmitCmd struct {
	remote.Server
	remote.Within

	Name       string `arg:"" name:"job" help:"Name of a job: job, or collection/job."`
	Occurrence string `arg:"" help:"What to run again: its time by the schedule, or the id of the occurrence, of an attempt or of a record, as the history has them."`
	Force      bool   `help:"Also what succeeded."`
}

// Help shows examples.
func (resubmitCmd) Help() string {
	return `An occurrence that failed, was skipped or was postponed runs once more, by hand: its action is told the same time by
the schedule, and its records in the history name the occurrence that it repeats. What succeeded, or has not ended, is a
conflict (exit code 4), and so is a job that is running.

Examples:

    carillon resubmit report 2026-03-02T09:00:00Z
    carillon resubmit report billing/report@2026-03-02T09:00:00Z --force -c billing`
}

// Run resubmits the occurrence.
func (c resubmitCmd) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
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
