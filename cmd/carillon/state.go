package main

import (
	"context"

	"github.com/carillon-sched/carillon/cmd/carillon/client"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

type runCmd struct{ remote.Jobs }

// Help shows examples.
func (runCmd) Help() string {
	return `The schedule goes on as planned, and the run does not count for recurrence.count. A disabled job runs once. A
job that is running or waits for a retry is a conflict (exit code 4).

Examples:

    carillon run hello
    carillon run billing/report billing/invoices`
}

// Run runs the jobs.
func (c runCmd) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	return c.Each(ctx, t, "started", api.Run)
}

type enableCmd struct{ remote.Jobs }

// Help shows examples.
func (enableCmd) Help() string {
	return `Instants that passed meanwhile are recorded as skipped.

Example:

    carillon enable billing/report`
}

// Run enables the jobs.
func (c enableCmd) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	return c.Each(ctx, t, "enabled", api.Enable)
}

type disableCmd struct{ remote.Jobs }

// Help shows examples.
func (disableCmd) Help() string {
	return `An attempt that is running comes to its end; nothing follows it.

Example:

    carillon disable billing/report`
}

// Run disables the jobs.
func (c disableCmd) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	return c.Each(ctx, t, "disabled", api.Disable)
}

type deleteCmd struct{ remote.Jobs }

// Help shows examples.
func (deleteCmd) Help() string {
	return `An attempt that is running comes to its end; nothing follows it. The history goes with the job.

Example:

    carillon delete hello`
}

// Run deletes the jobs.
func (c deleteCmd) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	return c.Each(ctx, t, "deleted", api.Delete)
}
