package main

import (
	"context"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// jobsCmd does one thing to each of several jobs.
type jobsCmd struct {
	remote.Jobs

	verb, done string // what is done to a job, and what is said of it then
	do         func(*client.Client, context.Context, scheduler.Key) (*client.Job, error)
	help       string
}

// Help shows examples.
func (c jobsCmd) Help() string { return c.help }

// Run does it.
func (c jobsCmd) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	if c.Picks() {
		return c.Operate(ctx, t, api, client.Bulk{Verb: c.verb})
	}
	keys, err := c.Keys(ctx, t, api, c.verb, true)
	if err != nil {
		return err
	}
	return remote.EachResult(ctx, t, keys, func(k scheduler.Key) (string, error) {
		j, err := c.do(api, ctx, k)
		return resultOf(j, c.done), err
	}, func(k scheduler.Key, result string) any {
		return map[string]string{"job": k.String(), "result": result}
	})
}

// resultOf is the word for an edit of a job: done, or unchanged if it had no effect.
func resultOf(j *client.Job, done string) string {
	if j != nil && j.Result == view.Unchanged {
		return string(view.Unchanged)
	}
	return done
}

// askHelp is of all of them.
const askHelp = `
Jobs are named, or picked by their labels or all of a collection. What is picked is shown first, and you are asked
whether it is meant; without a terminal --yes says so. The scheduler does it to all of them as one operation, which
"carillon operation" lists, shows and cancels: an interrupt leaves it running.
`

// The commands that do one thing to each of several jobs.
var (
	enableCmd = jobsCmd{
		verb: "enable", done: "enabled", do: (*client.Client).Enable,
		help: `Instants that passed meanwhile are recorded as skipped. A job that is paused goes on at once.
` + askHelp + `
Examples:

    carillon enable billing/report
    carillon enable -c billing --all
    carillon enable -l team=billing --yes`,
	}

	deleteCmd = jobsCmd{
		verb: "delete", done: "deleted",
		do: func(api *client.Client, ctx context.Context, k scheduler.Key) (*client.Job, error) {
			return nil, api.Delete(ctx, k)
		},
		help: `An attempt that is running comes to its end; nothing follows it. The history goes with the job.
` + askHelp + `
Examples:

    carillon delete hello
    carillon delete -l env=test
    carillon delete -c trial --all --yes`,
	}
)

type pauseCmd struct {
	remote.Jobs

	Until string `required:"true" help:"When they go on: 2h, 9:00, 'tomorrow 9:00', monday, 2026-03-02T09:00 on the clock of each job, or 2026-03-02T09:00Z." placeholder:"TIME"`
}

// Help shows examples.
func (pauseCmd) Help() string {
	return `An attempt that is running comes to its end, with its retries. Nothing else begins before the time, and then the job
goes on by itself; what fell due meanwhile is recorded as skipped. A job that runs once runs at the end of its pause.
The job stays enabled, and may be run by hand. "carillon enable" ends a pause early.
` + askHelp + `
Examples:

    carillon pause billing/report --until 'tomorrow 9:00'
    carillon pause billing/report --until 2h
    carillon pause -l team=billing --until 2026-12-27 --yes`
}

// pausing is a job that is to be paused, and until when it is.
type pausing struct {
	job   scheduler.Key
	until time.Time
	t     *terminal.Terminal
}

func (p *pausing) String() string {
	return p.job.String() + " until " + p.t.Time(p.until, terminal.Dated)
}

// Run pauses the jobs.
func (c pauseCmd) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	if c.Picks() {
		return c.Operate(ctx, t, api, client.Bulk{Verb: "pause", Until: c.Until})
	}
	keys, err := c.Keys(ctx, t, api, "pause", true)
	if err != nil {
		return err
	}
	jobs := make([]*pausing, len(keys))
	for i, k := range keys {
		jobs[i] = &pausing{k, time.Time{}, t}
	}
	return remote.EachResult(ctx, t, jobs, func(p *pausing) (string, error) {
		j, err := api.Pause(ctx, p.job, c.Until)
		if err == nil {
			p.until = j.PausedUntil
		}
		return resultOf(j, "paused"), err
	}, func(p *pausing, result string) any {
		return map[string]any{"job": p.job.String(), "result": result, "pausedUntil": p.until}
	})
}
