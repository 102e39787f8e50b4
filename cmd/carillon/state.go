package main

import (
	"context"

	"github.com/carillon-sched/carillon/cmd/carillon/client"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
)

// jobsCmd does one thing to each of several jobs.
type jobsCmd struct {
	remote.Jobs

	done string // what is said of a job
	do   func(*client.Client, context.Context, scheduler.Key) error
	help string
}

// Help shows examples.
func (c jobsCmd) Help() string { return c.help }

// Run does it.
func (c jobsCmd) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	return c.Each(ctx, t, c.done, func(ctx context.Context, k scheduler.Key) error { return c.do(api, ctx, k) })
}

// The commands that do one thing to each of several jobs.
var (
	runCmd = jobsCmd{
		done: "started", do: (*client.Client).Run,
		help: `The schedule goes on as planned, and the run does not count for recurrence.count. A disabled job runs once. A
job that is running or waits for a retry is a conflict (exit code 4).

Examples:

    carillon run hello
    carillon run billing/report billing/invoices`,
	}

	enableCmd = jobsCmd{
		done: "enabled", do: (*client.Client).Enable,
		help: `Instants that passed meanwhile are recorded as skipped.

Example:

    carillon enable billing/report`,
	}

	disableCmd = jobsCmd{
		done: "disabled", do: (*client.Client).Disable,
		help: `An attempt that is running comes to its end, and so does a run by hand, or one that runs beside the next, with
its retries. Nothing else follows.

Example:

    carillon disable billing/report`,
	}

	deleteCmd = jobsCmd{
		done: "deleted", do: (*client.Client).Delete,
		help: `An attempt that is running comes to its end; nothing follows it. The history goes with the job.

Example:

    carillon delete hello`,
	}
)
