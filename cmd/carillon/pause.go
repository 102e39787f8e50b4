package main

import (
	"context"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
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
