// Package failures has the commands that deal with groups of failed attempts.
package failures

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/printer"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/explain"
)

// Command are the commands that deal with failures.
type Command struct {
	List        List        `cmd:"" default:"withargs" aliases:"ls" help:"List groups of failed attempts, open ones first."`
	Show        Show        `cmd:"" aliases:"get" help:"Show a group: an example and the affected jobs."`
	Pause       Pause       `cmd:"" help:"Pause the jobs of a group until a given time."`
	Resume      Resume      `cmd:"" aliases:"enable" help:"End the pauses of the jobs of a group."`
	Rerun       Rerun       `cmd:"" aliases:"resubmit" help:"Rerun what failed in a group."`
	Acknowledge Acknowledge `cmd:"" aliases:"ack" help:"State that you handle a group."`
	Mute        Mute        `cmd:"" help:"Mute a group until a given time."`
	Reopen      Reopen      `cmd:"" aliases:"unmute" help:"Remove the acknowledgment of a group, and unmute it."`
}

// scope is the flag of callers with rights on one collection.
type scope struct {
	remote.Server

	Collection string `short:"c" help:"Only jobs of this collection; a role on this collection is sufficient." placeholder:"NAME"`
}

// one names a group.
type one struct {
	scope

	ID string `arg:"" name:"group" help:"ID of the group."`
}

// List lists groups.
type List struct{ scope }

// Run lists the groups.
func (c List) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	all, err := api.Failures(ctx, c.Collection)
	return Print(t, all, err, "no failures in the last day")
}

// Print prints groups, or the hint none if there are none. It returns err, without groups.
func Print(t *terminal.Terminal, all []*v1.FailureGroup, err error, none string) error {
	return terminal.PrintList(t, all, err, none,
		[]string{"GROUP", "STATE", "TARGET", "CLASS", "TYPE", "FAILED", "JOBS", "FIRST", "LAST"},
		func(g *v1.FailureGroup) []string {
			return []string{
				g.ID, string(g.State), cmp.Or(g.Target, "-"), g.Class, cmp.Or(g.ActionType, "-"),
				strconv.FormatUint(g.Attempts, 10), jobsOf(g), t.Time(g.First, terminal.Dated), terminal.Ago(g.Last, time.Now()),
			}
		})
}

// jobsOf is the number of affected jobs.
func jobsOf(g *v1.FailureGroup) string {
	if g.AtLeast {
		return ">" + strconv.Itoa(g.Jobs)
	}
	return strconv.Itoa(g.Jobs)
}

// Show shows a group.
type Show struct{ one }

// shownJobs limits the printed jobs.
const shownJobs = 20

// Run shows the group.
func (c Show) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	g, err := api.Failure(ctx, c.ID, c.Collection)
	return terminal.PrintOne(t, g, err, func(g *v1.FailureGroup) { show(t, g) })
}

func show(t *terminal.Terminal, g *v1.FailureGroup) {
	since := func(what string, at time.Time) string {
		if at.IsZero() {
			return ""
		}
		return strings.TrimSpace(what + " " + t.Time(at, terminal.Dated))
	}
	printer.Field(t, "Group", g.ID)
	printer.Field(t, "State", string(g.State))
	printer.Field(t, "Cause", strings.TrimSpace(g.Target+" "+g.Class+" "+g.ActionType))
	if g.Circuit != "" {
		printer.Field(t, "Circuit", cmp.Or(since(g.Circuit+" until", g.CircuitUntil), g.Circuit))
	}
	if a := g.Acknowledged; a != nil {
		printer.Field(t, "Acknowledged", strings.TrimSpace(since("", a.At)+" by "+a.By+" "+a.Note))
	}
	printer.Field(t, "Muted", since("until", g.MutedUntil))
	printer.Field(t, "Failed", fmt.Sprintf("%d attempts, %d occurrences after all retries", g.Attempts, g.Faulted))
	printer.Field(t, "First", since("", g.First))
	printer.Field(t, "Last", since("", g.Last))
	printer.Field(t, "Resolved", since("", g.Resolved))
	printer.Field(t, "Example", g.Example.Occurrence)
	printer.Field(t, "Answer", g.Example.Answer)
	printer.Field(t, "Jobs", jobsOf(g))
	for _, job := range g.Selection.Jobs[:min(len(g.Selection.Jobs), shownJobs)] {
		t.Printf("  %s\n", job)
	}
}

// Pause pauses the jobs of a group.
type Pause struct {
	one

	Until string `required:"true" help:"When the jobs resume, as for carillon pause: 2h, 'tomorrow 9:00', 2026-03-02T09:00Z." placeholder:"TIME"`
	Yes   bool   `short:"y" help:"Do not ask for confirmation."`
}

// Run pauses the jobs.
func (c Pause) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	_, b, err := c.request(ctx, api, v1.VerbPause)
	if err != nil {
		return err
	}
	b.Until = c.Until
	return remote.Perform(ctx, t, api, b, "carillon failures show lists them", false, c.Yes)
}

// request starts the request of an operation on the jobs of the group.
func (c one) request(ctx context.Context, api *client.Client, verb string) (*v1.FailureGroup, v1.OperationRequest, error) {
	b := v1.OperationRequest{Verb: verb, Collection: c.Collection}
	g, err := api.Failure(ctx, c.ID, c.Collection)
	if err == nil {
		b.Jobs, b.Target, b.Action = g.Selection.Jobs, g.Selection.Target, g.Selection.Action
	}
	return g, b, err
}

// Resume ends the pauses of the jobs of a group.
type Resume struct {
	one

	Yes bool `short:"y" help:"Do not ask for confirmation."`
}

// Run enables the paused jobs.
func (c Resume) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	_, b, err := c.request(ctx, api, v1.VerbEnable)
	if err != nil {
		return err
	}
	b.Filter = v1.OnlyPaused
	return remote.Perform(ctx, t, api, b, "carillon failures show lists them", false, c.Yes)
}

// Rerun resubmits what failed in a group.
type Rerun struct {
	one

	Since  string `help:"Rerun the occurrences that failed since this time: 12:00, 2026-03-08T02:30Z, or 2h (two hours ago). Default: the group's first failure." placeholder:"TIME"`
	DryRun bool   `help:"Only list the occurrences."`
	Rate   string `help:"Maximum rate, such as 10/s." placeholder:"N/s"`
	Yes    bool   `short:"y" help:"Do not ask for confirmation."`
}

// Run resubmits the occurrences.
func (c Rerun) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	g, b, err := c.request(ctx, api, v1.VerbResubmit)
	if err != nil {
		return err
	}
	since, err := t.Moment("since", c.Since, time.Now())
	if err != nil {
		return err
	}
	if since.IsZero() {
		since = g.First
	}
	b.FailedSince, b.Target = since.Format(time.RFC3339Nano), g.Target
	if b.Rate, err = remote.Rate(c.Rate); err != nil {
		return err
	}
	return remote.Perform(ctx, t, api, b, "--dry-run lists them", c.DryRun, c.Yes)
}

// Acknowledge acknowledges a group.
type Acknowledge struct {
	one

	Note string `help:"Note for others." placeholder:"TEXT"`
}

// Run acknowledges the group.
func (c Acknowledge) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	g, err := api.AcknowledgeFailure(ctx, c.ID, c.Collection, c.Note)
	return changed(t, g, err)
}

// changed prints the state of a changed group.
func changed(t *terminal.Terminal, g *v1.FailureGroup, err error) error {
	return terminal.PrintOne(t, g, err, func(g *v1.FailureGroup) { t.Printf("%-12s %s\n", g.State, g.ID) })
}

// Mute mutes a group.
type Mute struct {
	one

	Until string `required:"true" help:"End of the mute: 2h, 9:00, 'tomorrow 9:00', 2026-03-02T09:00. At most 7 days from now." placeholder:"TIME"`
}

// Run mutes the group.
func (c Mute) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	until, err := explain.ParseFuture(c.Until, t.Zone(), time.Now())
	if err != nil {
		return terminal.Usagef("--until: %s", err)
	}
	g, err := api.MuteFailure(ctx, c.ID, c.Collection, until.Format(time.RFC3339Nano))
	return changed(t, g, err)
}

// Reopen reopens a group.
type Reopen struct{ one }

// Run reopens the group.
func (c Reopen) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	g, err := api.ReopenFailure(ctx, c.ID, c.Collection)
	return changed(t, g, err)
}
