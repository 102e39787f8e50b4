package jobs

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// counted counts the records of a job, a target or an outcome.
type counted struct {
	Group   string             `json:"group"`
	Runs    int                `json:"runs"` // with an attempt
	Failed  int                `json:"failedAttempts"`
	Faulted int                `json:"faulted"`               // runs
	Skipped int                `json:"skipped"`               // due times
	Half    *scheduler.Seconds `json:"durationP50,omitempty"` // of an attempt
	Most    *scheduler.Seconds `json:"durationP95,omitempty"`

	runs map[string]bool
	took []scheduler.Seconds
}

// count prints the counts of the selected records.
func (c History) count(ctx context.Context, t *terminal.Terminal, api *client.Client, q client.HistoryQuery) error {
	by := map[string]*counted{}
	for r, err := range api.History(ctx, q) {
		if err != nil {
			return err
		}
		name := map[string]string{"job": r.Job, "target": cmp.Or(r.Target, "-"), "outcome": strings.ToLower(r.Status)}[c.Group]
		if by[name] == nil {
			by[name] = &counted{Group: name, runs: map[string]bool{}}
		}
		by[name].add(r)
	}
	all := slices.SortedFunc(maps.Values(by), func(a, b *counted) int {
		return cmp.Or(b.Faulted-a.Faulted, b.Failed-a.Failed, len(b.runs)-len(a.runs), cmp.Compare(a.Group, b.Group))
	})
	for _, one := range all {
		one.Runs = len(one.runs)
		slices.Sort(one.took)
		if n := len(one.took); n > 0 {
			one.Half, one.Most = &one.took[(n-1)/2], &one.took[(n*95+99)/100-1]
		}
	}
	return terminal.PrintList(t, all, nil, "no records match",
		[]string{strings.ToUpper(c.Group), "RUNS", "FAILED ATTEMPTS", "FAULTED", "SKIPPED", "P50", "P95"},
		func(one *counted) []string {
			half, most := "-", "-"
			if one.Half != nil {
				half, most = terminal.Span(time.Duration(*one.Half)), terminal.Span(time.Duration(*one.Most))
			}
			return []string{
				one.Group, strconv.Itoa(one.Runs), strconv.Itoa(one.Failed), strconv.Itoa(one.Faulted), strconv.Itoa(one.Skipped),
				half, most,
			}
		})
}

func (c *counted) add(r *client.Record) {
	switch scheduler.Outcome(strings.ToLower(r.Status)) {
	case scheduler.OutcomeFaulted:
		c.Faulted++
		c.runs[r.Occurrence] = true
		return
	case scheduler.OutcomeSkipped:
		c.Skipped += max(1, r.Count)
		return
	case scheduler.OutcomePostponed, scheduler.NeverRan:
		return
	case scheduler.OutcomeFailed:
		c.Failed++
	case scheduler.OutcomeCompleted:
	}
	c.runs[r.Occurrence] = true
	if r.Duration != nil {
		c.took = append(c.took, *r.Duration)
	}
}
