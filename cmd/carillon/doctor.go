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

	Fix bool `help:"Mend what is found."`
}

// Help shows examples.
func (doctorCmd) Help() string {
	return `Every enabled job has one message in NATS, its baton, that makes it run. The doctor compares jobs with batons.
A scheduler does the same by itself at its start and every hour. Besides, the doctor tells of secrets that the
scheduler has not the key for: it looks at all shared secrets, and at those of a thousand jobs. It reads every job and
collection, and names those that are damaged: what is stored of them cannot be read. And it names jobs that are over
and never ran, as their schedules had no time left, such as 31 February; nothing is wrong with them.

A job that has a baton and no definition, and that nobody is known to have deleted, is lost: the store was damaged, or
came back from a backup. Its baton stays. Put the job again, from a file or an export, and it goes on where it was; or
delete it.

The exit code is 1 when something is wrong and was not mended.

Examples:

    carillon doctor
    carillon doctor --fix`
}

// Run looks for jobs without baton, and batons without job.
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
			`put them again with "carillon apply", from a file or an export, and they go on where they were; or give them up `+
				`with "carillon delete"`)
	}
	if err == nil && len(report.Undecryptable) > 0 {
		err = terminal.Hinted(errors.New("the scheduler has not the keys for all secrets in its store"),
			"put the key back, at the end of the key file, or set the secrets again")
	}
	return err
}

// damaged counts the findings that only a put can repair.
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
		return terminal.Hinted(err, `put what is damaged again, as with "carillon apply", or delete it`)
	}
	if c.Fix {
		return terminal.Hinted(err,
			`run "carillon doctor --fix" again: a job that was just being edited may look like one that is broken`)
	}
	return terminal.Hinted(err, `mend with "carillon doctor --fix"`)
}

func printReport(t *terminal.Terminal, r *v1.AuditReport) {
	for _, f := range r.Findings {
		mark := t.Paint(terminal.Red, "found ")
		switch {
		case f.Fixed:
			mark = t.Paint(terminal.Green, "mended")
		case f.Lost:
			mark = t.Paint(terminal.Red, "lost  ")
		}
		t.Printf("%s  %s  %s\n", mark, f.Name, f.Problem)
	}
	for _, name := range r.NeverRan {
		t.Printf("%s   %s  is over and never ran: its schedule has no time left; put it with another schedule\n",
			t.Paint(terminal.Yellow, "never"), name)
	}
	for _, u := range r.Undecryptable {
		t.Printf("%s  key %q  seals %s and %s, such as %s: %s\n", t.Paint(terminal.Red, "locked"), u.Key,
			terminal.Plural(u.Secrets, "shared secret", "shared secrets"), terminal.Plural(u.Jobs, "job", "jobs"),
			u.Example, u.Reason)
	}
	if r.Ended > 0 {
		t.Printf("%s ended a while ago or just now, and will be written down as such when there is leisure\n",
			terminal.Plural(r.Ended, "job has", "jobs have"))
	}
	t.Printf("%s, %d waiting, %d running, %s in %s\n", terminal.Plural(r.Jobs, "job", "jobs"), r.Waiting, r.Running,
		terminal.Plural(len(r.Findings), "problem", "problems"), time.Duration(r.Duration).Round(time.Millisecond))
}
