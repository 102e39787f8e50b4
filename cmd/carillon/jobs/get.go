package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/export"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Get shows jobs.
type Get struct {
	remote.Server
	remote.Within
	remote.Picked

	Names  []string `arg:"" name:"job" optional:"" help:"Names of jobs: job, or collection/job. Default: all jobs of the collection."`
	State  string   `help:"List only jobs in this state: enabled, disabled, paused, completed, faulted or damaged." enum:"enabled,disabled,paused,completed,faulted,damaged," default:"" placeholder:"STATE"`
	Prefix string   `help:"List only jobs whose names begin with this text." placeholder:"TEXT"`
	Action string   `name:"action-type" help:"List only jobs with this type of action, such as Http." placeholder:"TYPE"`
	After  string   `name:"next-after" help:"List only jobs that run next at this time or later: 2026-03-02T09:00:00Z, or 90m from now." placeholder:"TIME"`
	Before string   `name:"next-before" help:"List only jobs that run next before this time." placeholder:"TIME"`
	Text   string   `help:"List only jobs with this in their name, a label (name=value) or target, in any letter case." placeholder:"TEXT"`
	Last   string   `name:"last-outcome" help:"List only jobs with this last outcome: completed, failed, faulted, skipped, postponed or never." enum:"completed,failed,faulted,skipped,postponed,never," default:"" placeholder:"OUTCOME"`
	Output string   `short:"o" help:"Print as table, wide, yaml, json or name." enum:"table,wide,yaml,json,name," default:"" placeholder:"FORMAT"`
}

// Run shows jobs.
func (c Get) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	switch {
	case t.JSON && c.Output != "" && c.Output != "json":
		return terminal.Usagef("--json and --output %s exclude each other", c.Output)
	case c.Output == "json":
		t.JSON = true
	}
	if len(c.Names) == 0 {
		return c.list(ctx, t, api)
	}
	if c.picks() || c.AllCollections {
		return terminal.Usagef("names of jobs exclude the flags that filter jobs")
	}
	jobs := make([]*client.Job, len(c.Names))
	for i, name := range c.Names {
		k, err := c.Key(name)
		if err != nil {
			return err
		}
		if jobs[i], err = api.Get(ctx, k); err != nil {
			return c.hinted(err)
		}
	}
	switch {
	case len(jobs) > 1:
		return c.print(t, jobs)
	case t.JSON:
		return t.PrintJSON(jobs[0].Document)
	case c.Output == "":
		return printJob(t, jobs[0])
	}
	return c.print(t, jobs)
}

// hinted adds a hint if the first name is a kind of object, as in "get jobs".
func (c Get) hinted(err error) error {
	if !errors.Is(err, scheduler.ErrNotFound) {
		return err
	}
	kind, name, _ := strings.Cut(c.Names[0], "/")
	if name == "" && len(c.Names) > 1 {
		name = c.Names[1]
	}
	switch kind {
	case "job", "jobs":
		return terminal.Hinted(err, strings.TrimSpace(`jobs need no word for their kind: "carillon get `+name)+`"`)
	case "collection", "collections":
		return terminal.Hinted(err, `"carillon collection list" shows the collections`)
	}
	return err
}

func (c Get) list(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	q, err := c.Query(c.Within)
	if err != nil {
		return err
	}
	q.State, q.Prefix, q.Action, q.NextAfter, q.NextBefore = scheduler.State(c.State), c.Prefix, c.Action, c.After, c.Before
	q.Text, q.Outcome = c.Text, c.Last
	if _, err := (&v1.JobSearch{Prefix: q.Prefix, NextAfter: q.NextAfter, NextBefore: q.NextBefore}).Query(time.Now()); err != nil {
		return c.misused(err)
	}
	jobs, err := client.Collect(api.List(ctx, q), 0)
	if refused := scheduler.ProblemsIn(err); len(refused) > 0 && refused[0].Path == "actionType" {
		return c.misused(err) // only the scheduler knows which actions it has
	}
	if err != nil {
		return err
	}
	if len(jobs) == 0 && !t.JSON {
		hint := c.noneHint()
		if others, err := client.Collect(api.List(ctx, client.Query{}), 1); !c.picks() && err == nil && len(others) > 0 {
			hint = "the collection " + c.Collection + ` has no jobs, but others have: "carillon get -A"`
		}
		t.Complain("hint", hint)
		return nil
	}
	return c.print(t, jobs)
}

// picks reports whether the flags filter jobs.
func (c Get) picks() bool {
	return c.Labels+c.Target+c.State+c.Prefix+c.Action+c.After+c.Before+c.Text+c.Last != ""
}

// misused rewords an API error about an option for its flag.
func (Get) misused(err error) error {
	flags := map[string]string{
		"prefix": "--prefix", "nextAfter": "--next-after", "nextBefore": "--next-before", "actionType": "--action-type",
	}
	first := scheduler.ProblemsIn(err)[0]
	return terminal.Usagef("%s: %s", flags[first.Path], first.Message)
}

// noneHint explains an empty list.
func (c Get) noneHint() string {
	where := "collection " + c.Collection
	if c.AllCollections {
		where = "scheduler"
	}
	switch {
	case c.State != "" && c.Labels+c.Target+c.Prefix+c.Action+c.After+c.Before+c.Text+c.Last == "":
		return "no job of the " + where + " is " + c.State
	case c.picks():
		return "the " + where + " has no such jobs"
	}
	return "the " + where + ` has no jobs; write one with "carillon init", and "carillon apply" it`
}

// print prints a list of jobs.
func (c Get) print(t *terminal.Terminal, jobs []*client.Job) error {
	if t.JSON {
		return t.PrintJSON(terminal.ListOf(jobs, func(j *client.Job) json.RawMessage { return j.Document }))
	}
	now := time.Now()
	switch c.Output {
	case "yaml":
		return printYAML(t, jobs)
	case "name":
		for _, j := range jobs {
			t.Printf("%s\n", j.Name)
		}
		return nil
	case "wide":
		return terminal.PrintList(t, jobs, nil, "", wideHeading, func(j *client.Job) []string { return wideRow(j, now) })
	}
	return terminal.PrintList(t, jobs, nil, "", heading, func(j *client.Job) []string { return row(j, now) })
}

var (
	heading     = []string{"JOB", "STATE", "NEXT", "LAST", "RUNS", "FAILED", "SCHEDULE"}
	wideHeading = []string{"JOB", "STATE", "NEXT", "LAST", "RUNS", "FAILED", "ATTEMPTS", "ACTION", "LABELS", "SCHEDULE"}
)

func row(j *client.Job, now time.Time) []string {
	return []string{
		j.Name, stateName(j), next(j, now), terminal.Ago(j.Status.Last, now),
		strconv.Itoa(j.Status.Occurrences), strconv.Itoa(j.Status.Faults), When(j),
	}
}

// stateName is a job's state, or that it is paused.
func stateName(j *client.Job) string {
	if j.State == scheduler.Enabled && !j.PausedUntil.IsZero() {
		return "paused"
	}
	return string(j.State)
}

func wideRow(j *client.Job, now time.Time) []string {
	cells := row(j, now)
	schedule := cells[len(cells)-1]
	var p struct {
		Action struct {
			Type string `json:"type"`
		} `json:"action"`
	}
	_ = json.Unmarshal(j.Properties, &p) // it was read as a job before
	var inherited struct {
		Labels map[string]string `json:"labels"`
	}
	_ = json.Unmarshal(j.Inherited, &inherited) // empty if it inherits nothing
	all := map[string]string{}
	maps.Copy(all, inherited.Labels)
	maps.Copy(all, j.Labels)
	return append(cells[:len(cells)-1], strconv.Itoa(j.Status.Executions), p.Action.Type, cmp.Or(terminal.Pairs(all, ","), "-"), schedule)
}

// centuries are as many years as a length of time can be long.
const centuries = 290

// next formats a job's next run, or the reason for its absence.
func next(j *client.Job, now time.Time) string {
	retry := ""
	if j.Status.Retry > 0 {
		retry = fmt.Sprintf(", retry %d", j.Status.Retry)
	}
	switch {
	case j.Status.WaitsFor != "":
		return "collection disabled"
	case j.Status.Running:
		return "now" + retry
	case j.Status.Next.IsZero() && onEvents(j):
		return scheduler.OnEvents
	case j.Status.Next.IsZero():
		return "-"
	case j.Status.Next.Year() > now.Year()+centuries:
		return "on " + j.Status.Next.Format(time.DateOnly)
	}
	return "in " + terminal.Span(j.Status.Next.Sub(now)) + retry
}

// onEvents reports whether events start an enabled job.
func onEvents(j *client.Job) bool {
	var p struct {
		Trigger json.RawMessage `json:"trigger"`
	}
	return j.State == scheduler.Enabled && json.Unmarshal(j.Properties, &p) == nil && p.Trigger != nil
}

// printYAML prints jobs as a job file.
func printYAML(t *terminal.Terminal, jobs []*client.Job) error {
	documents := make([]export.Document, len(jobs))
	for i, j := range jobs {
		var err error
		if documents[i], err = export.Job(j); err != nil {
			return err
		}
	}
	t.Printf("%s", export.Stream(documents))
	return nil
}

// printJob prints a job as YAML.
func printJob(t *terminal.Terminal, j *client.Job) error {
	v, err := document.Parse(j.Document)
	if err != nil {
		return err
	}
	now := time.Now()
	t.Printf("# %s, %s\n# next: %s, last: %s\n",
		stateName(j), When(j), next(j, now), terminal.Ago(j.Status.Last, now))
	t.Printf("%s", v.YAML())
	return nil
}

// When is a job's schedule in the scheduler's words: "every 5 seconds".
func When(j *client.Job) string {
	if j.State == scheduler.Damaged {
		return "unknown"
	}
	return j.Status.Schedule
}
