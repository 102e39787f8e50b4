// Package events has the commands that deal with published events.
package events

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/printer"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Command are the commands that deal with events.
type Command struct {
	Publish Publish `cmd:"" help:"Publish an event."`
	List    List    `cmd:"" aliases:"ls" help:"List events, oldest first."`
	Show    Show    `cmd:"" aliases:"get" help:"Show an event."`
	Test    Test    `cmd:"" help:"Show the effect of an event on a job."`
	Replay  Replay  `cmd:"" help:"Apply stored events to a job again."`
}

// topic reads event or collection.event.
func topic(collection, name string) (scheduler.Topic, error) {
	t := scheduler.Topic{Collection: cmp.Or(collection, scheduler.DefaultCollection), Name: name}
	if of, event, ok := strings.Cut(name, "."); ok {
		t = scheduler.Topic{Collection: of, Name: event}
	}
	if err := t.Validate(); err != nil {
		return t, terminal.Usage(err)
	}
	return t, nil
}

// List lists events.
type List struct {
	remote.Server

	Name       string `arg:"" name:"event" optional:"" help:"Name of an event: event, or collection.event. Default: all events."`
	Collection string `short:"c" help:"Only events of this collection. Default: all collections, or default for an event that is named without one." env:"CARILLON_COLLECTION" placeholder:"NAME"`
	Top        int    `short:"n" help:"Number of events to show." default:"20" placeholder:"N"`
	Since      string `help:"Show only events since: 2026-03-08, 2026-03-08T02:30Z, or 2h (two hours ago)." placeholder:"TIME"`
}

// Run lists the events.
func (c List) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	q, err := c.query(t, time.Now())
	if err != nil {
		return err
	}
	all, err := client.Collect(api.Events(ctx, q, c.Top), c.Top)
	slices.Reverse(all)
	return terminal.PrintList(t, all, err, "no events match", []string{"SEQUENCE", "TIME", "EVENT", "ID", "DATA"},
		func(e *v1.Event) []string {
			return []string{
				strconv.FormatUint(e.Sequence, 10), t.Time(e.Time, terminal.Dated), e.Subject(), e.ID,
				document.Cut(string(e.Data), shownData),
			}
		})
}

// shownData limits the content of an event in a table, in bytes.
const shownData = 80

func (c List) query(t *terminal.Terminal, now time.Time) (q client.EventQuery, err error) {
	if c.Top < 1 {
		return q, terminal.Usagef("--top must be at least 1")
	}
	if q.Since, err = t.Moment("since", c.Since, now); err != nil {
		return q, err
	}
	q.Collection = c.Collection
	if c.Name == "" {
		return q, nil
	}
	of, err := topic(c.Collection, c.Name)
	if err == nil && c.Collection != "" && of.Collection != c.Collection {
		err = terminal.Usagef("the event %s is not in the collection %s: omit --collection", of, c.Collection)
	}
	q.Collection, q.Name = of.Collection, of.Name
	return q, err
}

// Show shows an event.
type Show struct {
	remote.Server

	Sequence   uint64 `arg:"" help:"Sequence of the event, as list shows it."`
	Collection string `short:"c" help:"Only an event of this collection; a role on this collection is sufficient." placeholder:"NAME"`
}

// Run shows the event.
func (c Show) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	e, err := api.Event(ctx, c.Sequence, c.Collection)
	return terminal.PrintOne(t, e, err, func(e *v1.Event) {
		printer.Field(t, "Event", e.Subject())
		printer.Field(t, "Sequence", strconv.FormatUint(e.Sequence, 10))
		printer.Field(t, "Time", t.Time(e.Time, terminal.Dated))
		printer.Field(t, "ID", e.ID)
		printer.Field(t, "Attributes", terminal.Pairs(e.Attributes, "\n"))
		printer.Field(t, "Data", string(e.Data))
	})
}

// Publish publishes an event.
type Publish struct {
	remote.Server

	Name       string            `arg:"" name:"event" help:"Name of the event: event, or collection.event."`
	Data       string            `arg:"" optional:"" help:"Content: a text, @FILE for that of a file, or - for standard input. Default: none."`
	Collection string            `short:"c" help:"Collection of an event that is named without one." default:"default" env:"CARILLON_COLLECTION" placeholder:"NAME"`
	ID         string            `name:"id" help:"ID of the event. An ID is stored once within two minutes, so you can repeat a failed command." placeholder:"ID"`
	Header     map[string]string `help:"Attribute of the event, such as type=order.created, or its content-type. Repeatable." mapsep:"none" placeholder:"NAME=VALUE"`
}

// Run publishes the event.
func (c Publish) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	of, err := topic(c.Collection, c.Name)
	if err != nil {
		return err
	}
	body, err := content(ctx, t, "data", c.Data)
	if err != nil {
		return err
	}
	p, err := api.PublishEvent(ctx, client.NewEvent{Topic: of, ID: c.ID, Attributes: c.Header, Body: body})
	return terminal.PrintOne(t, p, err, func(p *v1.PublishedEvent) {
		result := "published"
		if p.Duplicate {
			result = "duplicate"
		}
		t.Printf("%s  %s  %d\n", result, of, p.Sequence)
	})
}

// content returns the content of an event: a text, @FILE or -. Errors name the argument.
func content(ctx context.Context, t *terminal.Terminal, what, text string) ([]byte, error) {
	path, isFile := strings.CutPrefix(text, "@")
	switch {
	case text == "-":
		path = "-"
	case !isFile:
		return []byte(text), nil
	}
	body, err := t.ReadArgument(ctx, what, path, scheduler.MaxEventSize+1)
	if err == nil && len(body) > scheduler.MaxEventSize {
		err = fmt.Errorf("%s: has more than %d bytes (64 KB), the most of an event", text, scheduler.MaxEventSize)
	}
	return body, err
}
