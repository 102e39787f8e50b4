package main

import (
	"context"
	"errors"

	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
)

type applyCmd struct {
	remote.Server
	remote.Within

	Paths  []string `arg:"" name:"path" help:"Job files, directories of them, or - for standard input."`
	DryRun bool     `help:"Change nothing: show what would be changed, and when the jobs would run."`
	Strict bool     `help:"Refuse jobs that there are warnings about."`
}

// Help shows examples.
func (applyCmd) Help() string {
	return `A job file is JSON or YAML; YAML may hold several documents separated by "---". A directory stands for all
*.json, *.yaml and *.yml files below it. A document is a job as the REST API takes it, with its "name" (job,
or collection/job) and "collection" on top; without a name it is called as its file.

In strings, ${CARILLON_…} is replaced by that environment variable; CARILLON_ECHO is the scheduler's /echo
unless it is set, which "carillon dev" has, and "carillon serve --echo". Other variables are left alone.

A document with "type: Microsoft.Scheduler/jobCollections" is a collection, as "carillon collection get" shows it.
Collections are applied before jobs, whatever the order of the files.

All problems of all files are reported, each as file:line:column: path: message. JSON files may have comments.
A file that cannot be read leaves all its jobs as they are; a job that the scheduler refuses leaves only
itself. Applying again changes nothing that is as its file says, and nothing is ever deleted. A job
stays enabled or disabled, as it is, unless its file has a "state". One that is over begins again when its file has
changed.

Warnings tell what may not be meant so: a schedule that never runs, a member without effect.

Examples:

    carillon apply examples/jobs
    carillon apply --dry-run --strict examples/jobs
    carillon apply -c billing report.yaml
    carillon get --state enabled --json | carillon apply --server http://other:8080 -

Secrets are not in what "carillon get" shows. Jobs that are applied without the secrets they have are refused; on
another scheduler add them first.`
}

// Run applies the files.
func (c applyCmd) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	if err := scheduler.ValidateCollection(c.Collection); err != nil {
		return terminal.Usage(err)
	}
	files, problems := jobfile.Find(c.Paths)
	reader := jobfile.Reader{Lookup: lookupAt(ctx, t.Lookup, api), Collection: c.Collection, Stdin: t.Input(ctx)}
	jobs, wrong := reader.Read(files)
	put := putOver(api, client.PutOptions{Strict: c.Strict, DryRun: c.DryRun})
	results := jobfile.Apply(ctx, jobs, put)
	err := report(t, append(problems, wrong...), results)
	if !t.JSON || errors.Is(err, scheduler.ErrUnavailable) {
		return err
	}
	return errors.Join(printResults(t, results, append(problems, wrong...)), err)
}

// putOver puts jobs and collections over the REST API.
func putOver(api *client.Client, o client.PutOptions) jobfile.Put {
	if o.DryRun {
		return newRehearsal(api, o).put
	}
	return func(ctx context.Context, j jobfile.Job) (jobfile.Answer, error) {
		if j.IsCollection() {
			return putCollectionOver(ctx, api, j, o)
		}
		got, err := api.Put(ctx, j.Key, j.Body, o)
		if err != nil {
			return jobfile.Answer{}, err
		}
		return jobfile.Answer{Result: got.Result, Over: got.Status.Over, Warnings: got.Warnings}, nil
	}
}
