package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/client"
	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
)

type applyCmd struct {
	remote.Server
	remote.Within

	Paths []string `arg:"" name:"path" help:"Job files, directories of them, or - for standard input."`
}

// Help shows examples.
func (applyCmd) Help() string {
	return `A job file is JSON or YAML; YAML may hold several documents separated by "---". A directory stands for all
*.json, *.yaml and *.yml files below it. A document is a job as the REST API takes it, with its "name" (job,
or collection/job) and "collection" on top; without a name it is called as its file.

In strings, ${CARILLON_…} is replaced by that environment variable; CARILLON_ECHO is the scheduler's /echo
unless it is set. Other variables are left alone.

A document with "type: Microsoft.Scheduler/jobCollections" is a collection, as "carillon collection get" shows it.
Collections are applied before jobs, whatever the order of the files.

All problems of all files are reported. A file that cannot be read leaves all its jobs as they are; a job that
the scheduler refuses leaves only itself. Applying again changes nothing that is as its file says, and nothing
is ever deleted.

Examples:

    carillon apply examples/jobs
    carillon apply -c billing report.yaml
    carillon get --state enabled --json | carillon apply --server http://other:8080 -

Secrets are not in what "carillon get" shows. Jobs that are applied without the secrets they have are refused; on
another scheduler add them first.`
}

// echoVariable is the variable that names a target for trying jobs out.
const echoVariable = jobfile.Prefix + "ECHO"

// lookupWith returns the environment with a default for CARILLON_ECHO.
func lookupWith(env jobfile.Lookup, echo string) jobfile.Lookup {
	return func(name string) (string, bool) {
		if v, ok := env(name); ok || name != echoVariable {
			return v, ok
		}
		return echo, true
	}
}

// Run applies the files.
func (c applyCmd) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	files, problems := jobfile.Find(c.Paths)
	reader := jobfile.Reader{Lookup: lookupWith(t.Lookup, api.URL()+"/echo"), Collection: c.Collection, Stdin: t.In}
	jobs, wrong := reader.Read(files)
	results := jobfile.Apply(ctx, jobs, putOver(api))
	err := report(t, append(problems, wrong...), results)
	if !t.JSON || errors.Is(err, scheduler.ErrUnavailable) {
		return err
	}
	return errors.Join(printResults(t, results, append(problems, wrong...)), err)
}

// putOver puts jobs over the REST API.
func putOver(api *client.Client) jobfile.Put {
	return func(ctx context.Context, j jobfile.Job) (jobfile.Verdict, error) {
		if j.IsCollection() {
			return putCollectionOver(ctx, api, j)
		}
		got, created, err := api.Put(ctx, j.Key, j.Body)
		if err != nil {
			return "", err
		}
		return verdict(created, got.State, jobfile.Applied), nil
	}
}

// verdict is what became of a job in that state. applied is the verdict of one
// that was there and can still run.
func verdict(created bool, state scheduler.State, applied jobfile.Verdict) jobfile.Verdict {
	switch {
	case created:
		return jobfile.Created
	case state.Final():
		return jobfile.Ended
	}
	return applied
}

// report tells what became of job files. problems are of files whose jobs were
// not put.
func report(t *terminal.Terminal, problems []jobfile.Problem, results []jobfile.Result) error {
	for _, r := range results {
		problems = append(problems, r.Problems...)
	}
	if err := firstUnavailable(problems); err != nil {
		return err
	}
	if !t.JSON {
		for _, r := range results {
			printResult(t, r)
		}
	}
	if len(problems) == 0 {
		return nil
	}
	causes := make([]error, len(problems))
	for i, p := range problems {
		t.Complain("error", p.String())
		causes[i] = cmp.Or(p.Cause, errFile)
	}
	return terminal.Hinted(terminal.Reported(causes...), applyHint(problems))
}

// errFile is the cause of a problem that no scheduler was asked about.
var errFile = errors.New("a job file is not in order")

func printResult(t *terminal.Terminal, r jobfile.Result) {
	switch r.Verdict {
	case "":
	case jobfile.Ended:
		t.Printf("%s     %s: it ran already and is over; %q frees the name\n",
			t.Paint(terminal.Yellow, "ended"), r.Job.Key, "carillon delete "+r.Job.Key.String())
	default:
		t.Printf("%-9s %s\n", r.Verdict, r.Job.Name())
	}
}

// applied is what became of a job, for programs.
type applied struct {
	Job     string          `json:"job"` // or "collection NAME"
	File    string          `json:"file"`
	Verdict jobfile.Verdict `json:"result"`
}

func printResults(t *terminal.Terminal, results []jobfile.Result, problems []jobfile.Problem) error {
	jobs, all := []applied{}, append([]jobfile.Problem{}, problems...)
	for _, r := range results {
		all = append(all, r.Problems...)
		if r.Verdict != "" {
			jobs = append(jobs, applied{r.Job.Name(), r.Job.File, r.Verdict})
		}
	}
	return t.PrintJSON(map[string]any{"jobs": jobs, "problems": all})
}

// firstUnavailable returns the first error that is no fault of a file: one
// message is enough for all jobs.
func firstUnavailable(problems []jobfile.Problem) error {
	for _, p := range problems {
		if errors.Is(p.Cause, scheduler.ErrUnavailable) || errors.Is(p.Cause, context.Canceled) {
			return p.Cause
		}
	}
	return nil
}

// applyHint says what to do about the most frequent mistake.
func applyHint(problems []jobfile.Problem) string {
	for _, p := range problems {
		switch {
		case errors.Is(p.Cause, scheduler.ErrNotFound):
			collection, _, _ := strings.Cut(p.Job, "/")
			return fmt.Sprintf("create the collection first: %q", "carillon collection create "+collection)
		case errors.Is(p.Cause, scheduler.ErrConflict) && strings.Contains(p.Message, "final"):
			return fmt.Sprintf("%q frees the name of a job that is over", "carillon delete "+p.Job)
		}
	}
	return "mend the files and apply again; what is in order already stays as it is"
}
