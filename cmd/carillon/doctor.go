package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

type doctorCmd struct {
	remote

	Fix bool `help:"Mend what is found."`
}

// Help shows examples.
func (doctorCmd) Help() string {
	return `Every enabled job has one message in NATS, its baton, that makes it run. The doctor compares jobs with batons.
A scheduler does the same by itself at its start and every hour. Besides, the doctor tells of secrets that the
scheduler has not the key for: it looks at all shared secrets, and at those of a thousand jobs.

The exit code is 1 when something is wrong and was not mended.

Examples:

    carillon doctor
    carillon doctor --fix`
}

// Run looks for jobs without baton, and batons without job.
func (c doctorCmd) Run(ctx context.Context, t *terminal) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	report, err := api.Doctor(ctx, c.Fix)
	if err != nil {
		return err
	}
	if t.json {
		err = t.printJSON(report)
	} else {
		printReport(t, report)
	}
	if left := len(report.Findings) - report.Fixed; err == nil && left > 0 {
		err = c.unwell(left)
	}
	if err == nil && len(report.Unopened) > 0 {
		err = hinted(errors.New("the scheduler has not the keys for all secrets in its store"),
			"put the key back, at the end of the key file, or set the secrets again")
	}
	return err
}

func (c doctorCmd) unwell(left int) error {
	err := fmt.Errorf("%s not in order", plural(left, "job is", "jobs are"))
	if c.Fix {
		return hinted(err, `run "carillon doctor --fix" again: a job that was just being edited may look like one that is broken`)
	}
	return hinted(err, `mend with "carillon doctor --fix"`)
}

func printReport(t *terminal, r *scheduler.AuditReport) {
	for _, f := range r.Findings {
		mark := t.paint(red, "found ")
		if f.Fixed {
			mark = t.paint(green, "mended")
		}
		t.printf("%s  %s  %s\n", mark, f.Name, f.Problem)
	}
	for _, u := range r.Unopened {
		t.printf("%s  key %q  seals %s and %s, such as %s: %s\n", t.paint(red, "locked"), u.Key,
			plural(u.Secrets, "shared secret", "shared secrets"), plural(u.Jobs, "job", "jobs"), u.Example, u.Reason)
	}
	t.printf("%s, %d waiting, %d running, %s in %s\n", plural(r.Jobs, "job", "jobs"), r.Waiting, r.Running,
		plural(len(r.Findings), "problem", "problems"), r.Duration.Round(time.Millisecond))
}

// plural returns "1 job" or "2 jobs".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
