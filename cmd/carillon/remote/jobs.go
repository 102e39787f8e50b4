package remote

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Picked are the flags of commands that list jobs.
type Picked struct {
	Labels         string `name:"selector" short:"l" help:"Only jobs with such labels: team=billing,env!=prod, or tier in (a,b), notin, name, !name." placeholder:"LABELS"`
	Target         string `help:"Only jobs that call this target: a host, or host:port." placeholder:"TARGET"`
	AllCollections bool   `short:"A" help:"Jobs of all collections."`
}

// Filters reports whether the flags filter jobs.
func (p Picked) Filters() bool { return p.Labels+p.Target != "" }

// Query returns the query of the flags.
func (p Picked) Query(w Within) (client.Query, error) {
	if _, err := scheduler.ParseSelector(p.Labels); err != nil {
		return client.Query{}, terminal.Usagef("--selector: %s", scheduler.ProblemsIn(err)[0].Message)
	}
	q := client.Query{Collection: w.Collection, Labels: p.Labels, Target: p.Target}
	if p.AllCollections {
		q.Collection = ""
		return q, nil
	}
	if err := scheduler.ValidateCollection(w.Collection); err != nil {
		return q, terminal.Usage(err)
	}
	return q, nil
}

// Jobs are the arguments of a command that does one thing to each of some
// jobs.
type Jobs struct {
	Server
	Within
	Picked

	Names []string `arg:"" name:"job" optional:"" help:"Names of jobs: job, or collection/job."`
	All   bool     `help:"All jobs of the collection, or with -A of all collections."`
	Yes   bool     `short:"y" help:"Do not ask for confirmation."`
}

// Keys returns the named or selected jobs. With ask it asks the user to confirm selected jobs; verb is the
// operation in the question.
func (s Jobs) Keys(ctx context.Context, t *terminal.Terminal, api *client.Client, verb string, ask bool) ([]scheduler.Key, error) {
	switch {
	case s.Picks():
	case s.AllCollections:
		return nil, terminal.Usagef("--all-collections goes with --selector, --target or --all")
	case len(s.Names) == 0:
		return nil, terminal.Hinted(terminal.Usagef("which jobs?"), "name jobs, or select them with --selector, --target or --all")
	default:
		return s.Within.Keys(s.Names)
	}
	q, err := s.query()
	if err != nil {
		return nil, err
	}
	jobs, err := client.Collect(api.List(ctx, q), 0)
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		t.Complain("hint", noJobs)
		return nil, nil
	}
	keys := terminal.All(jobs, (*client.Job).Key)
	if !ask || s.Yes {
		return keys, nil
	}
	yes, err := Confirm(ctx, t, verb, terminal.Plural(len(keys), "job", "jobs"), "carillon get takes the same flags", keys)
	if !yes {
		keys = nil
	}
	return keys, err
}

// noJobs is the hint if no job is picked.
const noJobs = "no job matches"

// query is the search for the jobs that are picked.
func (s Jobs) query() (client.Query, error) {
	if len(s.Names) > 0 {
		return client.Query{}, terminal.Usagef("job names exclude --selector, --target and --all")
	}
	return s.Query(s.Within)
}

// Confirm lists the selected objects and asks for confirmation. what counts them; look shows how to list them
// without a terminal.
func Confirm[T any](ctx context.Context, t *terminal.Terminal, verb, what, look string, all []T) (bool, error) {
	if !t.Asks() {
		return false, terminal.Hinted(terminal.Usagef("to %s %s needs --yes", verb, what), "look at them first: "+look)
	}
	for _, one := range all {
		t.Errorf("  %v\n", one)
	}
	yes, err := t.Confirm(ctx, fmt.Sprintf("Really %s %s?", verb, what))
	if err == nil && !yes {
		t.Complain("hint", "nothing was done")
	}
	return yes, err
}

// StopReason is the reason recorded for occurrences that are canceled because you disable their job.
const StopReason = "disabled with --stop-retries"

// Continuing prints how many active occurrences of the disabled jobs were canceled or, unless stopped, continue.
func Continuing(t *terminal.Terminal, n int, stopped bool) {
	what := terminal.Plural(n, "occurrence that has begun", "occurrences that have begun")
	switch {
	case n == 0 || t.JSON:
	case stopped:
		t.Complain("hint", "canceled "+what)
	default:
		t.Complain("hint", what+" will continue, retries included; --stop-retries cancels such")
	}
}

// notFound is the error about a job that does not exist.
var notFound = regexp.MustCompile(`\bjob ([^/\s]+)/([^/:\s]+): not found`)

// The bounds of a search for a name.
const (
	suggestTimeout = 3 * time.Second
	suggestMost    = 1000 // jobs that are compared
)

// noCollection is the error about a collection that does not exist.
var noCollection = regexp.MustCompile(`\bcollection ([^/\s:]+): not found`)

// missing returns the error about the collection of a job that does not exist, nil if the collection does.
func missing(api *client.Client, err error) error {
	if m := notFound.FindStringSubmatch(err.Error()); m != nil {
		ctx, cancel := context.WithTimeout(context.Background(), suggestTimeout)
		defer cancel()
		if _, of := api.Collection(ctx, m[1]); errors.Is(of, scheduler.ErrNotFound) {
			return of
		}
	}
	return nil
}

// suggest returns a hint about a job or a collection that does not exist: the collection that has the job, or the closest name.
func suggest(api *client.Client, err error) string {
	ctx, cancel := context.WithTimeout(context.Background(), suggestTimeout)
	defer cancel()
	if m := noCollection.FindStringSubmatch(err.Error()); m != nil {
		all, _ := api.Collections(ctx)
		names := terminal.All(all, func(c *client.Collection) string { return c.Name })
		if near := document.Nearest(m[1], names); near != "" {
			return fmt.Sprintf("did you mean the collection %s?", near)
		}
		return ""
	}
	m := notFound.FindStringSubmatch(err.Error())
	if m == nil {
		return ""
	}
	own, err := client.Collect(api.List(ctx, client.Query{Collection: m[1]}), suggestMost)
	if errors.Is(err, scheduler.ErrNotFound) {
		own, err = nil, nil
	}
	if err != nil {
		return ""
	}
	same, _ := client.Collect(api.List(ctx, client.Query{Prefix: m[2]}), suggestMost)
	for _, j := range same {
		if k := j.Key(); k.Job == m[2] {
			return fmt.Sprintf("the collection %s has a job of this name: %s", k.Collection, k)
		}
	}
	if near := nearestJob(m[2], own); near != "" {
		return fmt.Sprintf("did you mean %s/%s?", m[1], near)
	}
	all, _ := client.Collect(api.List(ctx, client.Query{}), suggestMost)
	near := nearestJob(m[2], all)
	for _, j := range all {
		if j.Key().Job == near {
			return fmt.Sprintf("did you mean %s?", j.Key())
		}
	}
	return ""
}

func nearestJob(name string, jobs []*client.Job) string {
	return document.Nearest(name, terminal.All(jobs, func(j *client.Job) string { return j.Key().Job }))
}
