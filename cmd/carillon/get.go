package main

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/carillon-sched/carillon/cmd/carillon/client"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
)

type getCmd struct {
	remote.Server
	remote.Within

	Name  string `arg:"" name:"job" optional:"" help:"Name of a job: job, or collection/job. Without it, all of the collection are listed."`
	State string `help:"List only jobs in this state: enabled, disabled, completed or faulted." enum:"enabled,disabled,completed,faulted," default:"" placeholder:"STATE"`
}

// Help shows examples.
func (getCmd) Help() string {
	return `Examples:

    carillon get                      the jobs of the collection default
    carillon get -c billing --state faulted
    carillon get billing/report       one job, as YAML
    carillon get report --json        as the API has it; "carillon apply" takes it back`
}

// Run shows one job, or lists a collection.
func (c getCmd) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	if c.Name == "" {
		return c.list(ctx, t, api)
	}
	k, err := c.Key(c.Name)
	if err != nil {
		return err
	}
	j, err := api.Get(ctx, k)
	if err != nil {
		return err
	}
	if t.JSON {
		return t.PrintJSON(j.Document)
	}
	return printJob(t, j)
}

func (c getCmd) list(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	if err := scheduler.ValidateName("collection", c.Collection); err != nil {
		return terminal.Usage(err)
	}
	jobs, err := api.List(ctx, c.Collection, scheduler.State(c.State))
	if err != nil {
		return err
	}
	if t.JSON {
		documents := make([]json.RawMessage, len(jobs))
		for i, j := range jobs {
			documents[i] = j.Document
		}
		return t.PrintJSON(terminal.List[json.RawMessage]{Value: documents})
	}
	if len(jobs) == 0 {
		if c.State != "" {
			t.Complain("hint", "no job of the collection "+c.Collection+" is "+c.State)
			return nil
		}
		t.Complain("hint", `the collection has no jobs; create some with "carillon apply"`)
		return nil
	}
	now := time.Now()
	rows := make([][]string, len(jobs))
	for i, j := range jobs {
		rows[i] = []string{
			j.Name, string(j.State), next(j, now), terminal.Ago(j.Status.Last, now),
			strconv.Itoa(j.Status.Executions), strconv.Itoa(j.Status.Failures), when(j.Properties),
		}
	}
	return t.Table([]string{"JOB", "STATE", "NEXT", "LAST", "RUNS", "FAILED", "SCHEDULE"}, rows)
}

// next says when a job runs next.
func next(j *client.Job, now time.Time) string {
	switch {
	case j.Status.Running:
		return "now"
	case j.Status.Next.IsZero():
		return "-"
	}
	return "in " + terminal.Span(j.Status.Next.Sub(now))
}

// printJob prints a job as YAML.
func printJob(t *terminal.Terminal, j *client.Job) error {
	text, err := yaml.JSONToYAML(j.Document)
	if err != nil {
		return err
	}
	now := time.Now()
	t.Printf("# %s, %s\n# next: %s, last: %s\n",
		j.State, when(j.Properties), next(j, now), terminal.Ago(j.Status.Last, now))
	t.Printf("%s", text)
	return nil
}
