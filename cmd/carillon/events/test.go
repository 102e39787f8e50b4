package events

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/printer"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// Test shows the effect of an event on a job.
type Test struct {
	remote.Server
	remote.Within

	Job      string            `arg:"" name:"job" help:"Name of the job: job, or collection/job."`
	Event    string            `help:"Content of the event: a text, @FILE for a file, or - for standard input. Default: none." placeholder:"DATA"`
	Name     string            `help:"Name of the event: event, or collection.event. Default: the first event that the job listens to." placeholder:"EVENT"`
	ID       string            `name:"id" help:"ID of the event." placeholder:"ID"`
	Header   map[string]string `help:"Attribute of the event, as in carillon events publish. Repeatable." mapsep:"none" placeholder:"NAME=VALUE"`
	Sequence uint64            `help:"Sequence of a stored event, in place of the other flags." placeholder:"N"`
}

// Run tests the event.
func (c Test) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	k, err := c.Key(c.Job)
	if err != nil {
		return err
	}
	v, err := c.test(ctx, t, api, k)
	return terminal.PrintOne(t, v, err, func(v *v1.TestedEvent) { printTested(t, v) })
}

func printTested(t *terminal.Terminal, v *v1.TestedEvent) {
	printer.Field(t, "Job", v.Job)
	printer.Field(t, "Event", v.Event)
	for i := range v.Listeners {
		printer.Field(t, fmt.Sprintf("Listener %d", i+1), describe(&v.Listeners[i]))
	}
	printer.Field(t, "Key", v.Key)
	if v.Waiting != nil {
		one, many, until := "event", "events", "a run until "
		if v.Waiting.Counts {
			one, many, until = "run", "runs", "a rate limit until "
		}
		until += t.Time(v.Waiting.Due, terminal.Dated)
		printer.Field(t, "Waiting", until+", "+terminal.Plural(v.Waiting.Events, one, many))
	}
	printer.Field(t, "Verdict", v.Verdict)
	printer.Field(t, "Effect", v.Effect+": "+v.Message)
	if v.Due.After(time.Now()) {
		printer.Field(t, "Due", t.Time(v.Due, terminal.Dated))
	}
	printer.Field(t, "Note", v.Note)
}

func (c Test) test(ctx context.Context, t *terminal.Terminal, api *client.Client, k scheduler.Key) (*v1.TestedEvent, error) {
	if c.Sequence > 0 {
		if c.Event+c.Name+c.ID != "" || len(c.Header) > 0 {
			return nil, terminal.Usagef("--sequence does not go with --event, --name, --id or --header: the stored event has them")
		}
		return api.TestStoredEvent(ctx, k, c.Sequence)
	}
	body, err := content(ctx, t, "--event", c.Event)
	if err != nil {
		return nil, err
	}
	return api.TestEvent(ctx, k, c.Name, client.NewEvent{ID: c.ID, Attributes: c.Header, Body: body})
}

func describe(l *v1.TestedListener) string {
	steps := []string{l.Listener + " does not select the event"}
	if l.Selects {
		steps[0] = l.Listener + " selects the event"
	}
	switch {
	case !l.Selects:
	case l.Error != "":
		steps = append(steps, l.Error)
	case l.Filter != "":
		steps = append(steps, fmt.Sprintf("filter %s is %t", l.Filter, l.Accepts))
		if l.Fields != "" {
			steps = append(steps, l.Fields)
		}
	}
	if l.Key != "" {
		steps = append(steps, "key "+l.Key)
	}
	return strings.Join(steps, "\n")
}
