package main

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/check"
	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/view"
)

type applyCmd struct {
	remote.Server
	remote.Within

	Paths       []string `arg:"" name:"path" help:"Job files, directories of them, or - for standard input."`
	DryRun      bool     `help:"Change nothing: show what would be changed, and when the jobs would run."`
	IfUnchanged bool     `help:"Put a job whose document has an \"etag\" only if it is still as it was then."`
	Strict      bool     `help:"Refuse jobs that there are warnings about."`
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
    carillon get report --json > report.json       # edit it, and put it unless somebody else was faster
    carillon apply --if-unchanged report.json
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
	put := putOver(api, putting{client.PutOptions{Strict: c.Strict, DryRun: c.DryRun}, c.IfUnchanged})
	results := jobfile.Apply(ctx, jobs, put)
	err := report(t, append(problems, wrong...), results)
	if !t.JSON || errors.Is(err, scheduler.ErrUnavailable) {
		return err
	}
	return errors.Join(printResults(t, results, append(problems, wrong...)), err)
}

// putting is how jobs and collections are put.
type putting struct {
	client.PutOptions

	ifUnchanged bool // a job whose document has an ETag is put only over one that has it still
}

// putOver puts jobs and collections into a scheduler that runs.
func putOver(api *client.Client, o putting) jobfile.Put {
	if o.DryRun {
		return newRehearsal(api, o).put
	}
	return func(ctx context.Context, j jobfile.Job) (jobfile.Answer, error) {
		if j.IsCollection() {
			return putCollectionOver(ctx, api, j, o.PutOptions)
		}
		got, err := putJob(ctx, api, j, o)
		if err != nil {
			return jobfile.Answer{}, err
		}
		return jobfile.Answer{Result: got.Result, Over: got.Status.Over, Warnings: got.Warnings}, nil
	}
}

// putJob puts a job, if that is asked for only over one that has the ETag of its document.
func putJob(ctx context.Context, api *client.Client, j jobfile.Job, o putting) (*client.Job, error) {
	if !o.ifUnchanged {
		return api.Put(ctx, j.Key, j.Body, o.PutOptions)
	}
	v, err := document.Parse(j.Body)
	if err != nil {
		return nil, scheduler.AsInvalid(err)
	}
	if etag, ok := v.Member("etag"); ok {
		if o.IfMatch = etag.Text(); o.IfMatch == "" {
			return nil, scheduler.Invalid("etag",
				"is not an ETag, such as \"a1b2-3\" with its quotes; leave it out to put the job whatever is there")
		}
	}
	return api.Put(ctx, j.Key, j.Body, o.PutOptions)
}

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
