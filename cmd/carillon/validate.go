package main

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/check"
	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/view"
)

type validateCmd struct {
	Paths []string `arg:"" name:"path" help:"Job files, directories of them, or - for standard input."`

	Collection string        `short:"c" help:"Collection of jobs that name none." default:"default" env:"CARILLON_COLLECTION" placeholder:"NAME"`
	Dev        bool          `help:"Check for carillon dev: retries after a second, and Service Bus without a key."`
	MinRetry   time.Duration `name:"min-retry-interval" help:"Shortest retryInterval, as that of carillon serve." default:"15s" placeholder:"DURATION"`
	Strict     bool          `help:"Take warnings for problems."`
}

// Help shows examples.
func (validateCmd) Help() string {
	return `Reads job files as "carillon apply" does, and says everything that is wrong with them. It needs no scheduler and
changes nothing, and is made for editors and continuous integration: the exit code is 1 when something is wrong.

Jobs are checked against the quota, limits and defaults of their collection, if these files have it. Only a scheduler can
check other collections and its own limits.
${CARILLON_ECHO} need not be set.

Examples:

    carillon validate jobs
    carillon validate --dev examples/jobs
    carillon validate --strict --json jobs
    carillon get report -o yaml | carillon validate -`
}

// valid is the result for a job that is in order.
const valid view.Result = "valid"

// Run validates files.
func (c validateCmd) Run(ctx context.Context, t *terminal.Terminal) error {
	retry := c.MinRetry
	if c.Dev {
		retry = devMinRetry
	}
	checker := check.New(check.Config{MinRetryInterval: retry, AnyKey: c.Dev})
	defer checker.Close()
	files, problems := jobfile.Find(c.Paths)
	reader := jobfile.Reader{Lookup: lookupWith(t.Lookup, check.Echo), Collection: c.Collection, Stdin: t.Input(ctx)}
	jobs, wrong := reader.Read(files)
	problems = append(problems, wrong...)
	results := jobfile.Apply(ctx, jobs, func(_ context.Context, j jobfile.Job) (jobfile.Answer, error) {
		warnings, err := checker.Document(j.Key, j.Body, c.Strict)
		return jobfile.Answer{Result: valid, Warnings: warnings}, err
	})
	err := terminal.Hinted(report(t, problems, results), "mend the files; nothing was changed anywhere")
	if t.JSON {
		return errors.Join(printResults(t, results, problems), err)
	}
	return err
}
