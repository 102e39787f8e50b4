package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/client"
)

type doctorCmd struct {
	remote.Server

	Fix bool `help:"Repair the problems found."`
}

// Run requests a consistency check of jobs and batons.
func (c doctorCmd) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	report, err := api.Doctor(ctx, c.Fix)
	if err != nil {
		return err
	}
	if t.JSON {
		err = t.PrintJSON(report)
	} else {
		printReport(t, report)
	}
	lost := len(report.Lost())
	if left := len(report.Findings) - report.Fixed - lost; err == nil && left > 0 {
		err = c.unwell(left, damaged(report.Findings))
	}
	if err == nil && lost > 0 {
		err = terminal.Hinted(fmt.Errorf("%s lost", terminal.Plural(lost, "definition is", "definitions are")),
			`apply the jobs again from a file or an export, with "carillon apply", to continue where they stopped; or delete them `+
				`with "carillon delete"`)
	}
	if err == nil && len(report.Undecryptable) > 0 {
		err = terminal.Hinted(errors.New("the scheduler lacks keys for some secrets in its store"),
			"add the key to the end of the key file, or set the secrets again")
	}
	return err
}

// damaged counts the findings that only a new put can repair.
func damaged(findings []v1.Finding) (n int) {
	for _, f := range findings {
		if f.Damaged {
			n++
		}
	}
	return n
}

func (c doctorCmd) unwell(left, damaged int) error {
	err := fmt.Errorf("%s not in order", terminal.Plural(left, "job is", "jobs are"))
	if left == damaged {
		return terminal.Hinted(err, `apply the damaged jobs again with "carillon apply", or delete them`)
	}
	if c.Fix {
		return terminal.Hinted(err,
			`run "carillon doctor --fix" again: a job can look broken during an edit`)
	}
	return terminal.Hinted(err, `repair with "carillon doctor --fix"`)
}

func printReport(t *terminal.Terminal, r *v1.AuditReport) {
	for _, f := range r.Findings {
		mark := t.Paint(terminal.Red, "found ")
		switch {
		case f.Fixed:
			mark = t.Paint(terminal.Green, "fixed ")
		case f.Lost:
			mark = t.Paint(terminal.Red, "lost  ")
		}
		t.Printf("%s  %s  %s\n", mark, f.Name, f.Problem)
	}
	for _, name := range r.NeverRan {
		t.Printf("%s   %s  completed without a run: its schedule has no future time; apply it with another schedule\n",
			t.Paint(terminal.Yellow, "never"), name)
	}
	for _, u := range r.Undecryptable {
		t.Printf("%s  key %q  seals %s and %s, such as %s: %s\n", t.Paint(terminal.Red, "locked"), u.Key,
			terminal.Plural(u.Secrets, "shared secret", "shared secrets"), terminal.Plural(u.Jobs, "job", "jobs"),
			u.Example, u.Reason)
	}
	if r.Ended > 0 {
		t.Printf("%s ended, which the scheduler will write to their definitions in the background\n",
			terminal.Plural(r.Ended, "job has", "jobs have"))
	}
	t.Printf("%s, %d waiting, %d running, %s in %s\n", terminal.Plural(r.Jobs, "job", "jobs"), r.Waiting, r.Running,
		terminal.Plural(len(r.Findings), "problem", "problems"), time.Duration(r.Duration).Round(time.Millisecond))
}
