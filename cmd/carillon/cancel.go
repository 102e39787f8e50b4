package main

import (
	"context"
	"errors"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
)

type cancelCmd struct {
	remote.Server
	remote.Within

	Name   string `arg:"" name:"job|run" help:"A job: all of it that has begun. Or the id of an occurrence or attempt, as the history has it."`
	Reason string `help:"Why, for the history and the audit log." placeholder:"TEXT"`
	DryRun bool   `name:"dry-run" help:"Show what would be canceled."`
}

// Help shows examples.
func (cancelCmd) Help() string {
	return `The attempt in flight is canceled, on whichever scheduler it runs, and neither a retry nor an errorAction follows. The
occurrence is recorded as faulted, with who canceled it and why. The schedule continues: to stop it, disable the job.
When nothing has begun, that is a conflict (exit code 4).

Examples:

    carillon cancel billing/report
    carillon cancel billing/report --reason 'wrong month'
    carillon cancel billing/report@2026-03-02T09:00:00Z`
}

// Run cancels the occurrences.
func (c cancelCmd) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	name, instant, one := strings.Cut(c.Name, "@")
	k, err := c.Key(name)
	if err != nil {
		return err
	}
	o := client.CancelOptions{Reason: c.Reason, DryRun: c.DryRun}
	if one {
		o.Occurrence = k.String() + "@" + instant
	}
	v, err := api.Cancel(ctx, k, o)
	switch {
	case err != nil:
		return err
	case t.JSON:
		return t.PrintJSON(v)
	}
	done := "canceled"
	if v.DryRun {
		done = "active"
	}
	for _, id := range v.Occurrences {
		t.Printf("%-9s %s\n", done, id)
	}
	return nil
}

type disableCmd struct {
	remote.Jobs

	StopRetries bool `name:"stop-retries" help:"Also cancel attempts in flight and waiting retries."`
}

// Help shows examples.
func (disableCmd) Help() string {
	return `No occurrence begins until you enable the jobs. Occurrences that have begun continue to their end, with their retries,
unless --stop-retries cancels them; the number of these is shown.
` + askHelp + `
Examples:

    carillon disable billing/report
    carillon disable billing/report --stop-retries
    carillon disable -A -l 'team=billing,env in (test,staging)'`
}

// Run disables the jobs.
func (c disableCmd) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	if c.Picks() {
		return c.Operate(ctx, t, api, client.Bulk{Verb: "disable", StopRetries: c.StopRetries})
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
	return remote.EachResult(ctx, t, keys, func(k scheduler.Key) (string, error) {
		j, err := api.Disable(ctx, k)
		if err != nil {
			return "", err
		}
		v, err := api.Cancel(ctx, k, client.CancelOptions{Reason: remote.StopReason, DryRun: !c.StopRetries})
		if errors.Is(err, scheduler.ErrConflict) {
			err = nil // nothing has begun
		}
		of[k] = len(v.Occurrences)
		all += of[k]
		return resultOf(j, "disabled"), err
	}, func(k scheduler.Key, result string) any {
		document := map[string]any{"job": k.String(), "result": result}
		if of[k] > 0 {
			document[word] = of[k]
		}
		return document
	})
}
