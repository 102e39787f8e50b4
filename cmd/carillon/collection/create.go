package collection

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/initfile"
	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Create creates a collection.
type Create struct {
	remote.Server

	Name             string            `arg:"" optional:"" help:"Name of the collection. Default: the name in the file, or the file name."`
	File             string            `short:"f" help:"File with the collection, in the format of carillon apply, or - for standard input. Flags override it." placeholder:"FILE"`
	MaxJobs          int               `name:"max-jobs" help:"Maximum number of jobs." placeholder:"N"`
	MaxRecurrence    string            `name:"max-recurrence" help:"Shortest recurrence of a job: hour, or minute/5 or 5m for every five minutes." placeholder:"FREQUENCY/N"`
	MinRetryInterval string            `name:"min-retry-interval" help:"Minimum retryInterval of its jobs, such as PT2M." placeholder:"DURATION"`
	Tag              map[string]string `help:"A tag. Repeatable." placeholder:"NAME=VALUE"`
	Disabled         bool              `help:"Create it disabled: its jobs do not run until you enable it."`
}

// Run creates the collection.
func (c Create) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	name, doc, err := c.document(ctx, t)
	if err != nil {
		return err
	}
	if name == "" {
		return terminal.Hinted(terminal.Usagef("the collection has no name"), `write "carillon collection create NAME"`)
	}
	if err := checkNames(name); err != nil {
		return err
	}
	made, err := api.CreateCollection(ctx, name, doc.JSON())
	if err != nil {
		return err
	}
	if t.JSON {
		return t.PrintJSON(made.Document)
	}
	t.Printf("created   %s\n", made.Name)
	return nil
}

// document returns the file's document, completed by the flags, and its name.
func (c Create) document(ctx context.Context, t *terminal.Terminal) (name string, doc document.Value, err error) {
	flags, err := c.flags()
	if err != nil || c.File == "" {
		return c.Name, flags, err
	}
	reader := jobfile.Reader{Lookup: t.Lookup, Stdin: t.Input(ctx), Name: c.Name, Collections: true}
	found, problems := reader.Read([]string{c.File})
	switch {
	case ctx.Err() != nil:
		return "", doc, context.Cause(ctx)
	case len(problems) > 0:
		return "", doc, jobfile.Report(t, problems)
	case len(found) != 1:
		return "", doc, terminal.Hinted(fmt.Errorf("%s: holds %s", c.File, terminal.Plural(len(found), "collection", "collections")),
			`"carillon apply" takes several`)
	}
	doc, err = document.Parse(found[0].Body)
	return cmp.Or(c.Name, found[0].Key.Collection), document.Merge(doc, flags), err
}

// flags returns the document that the flags make.
func (c Create) flags() (document.Value, error) {
	doc, text := document.ObjectValue(), document.StringValue
	if c.MaxJobs != 0 {
		doc = doc.With(document.NumberValue(strconv.Itoa(c.MaxJobs)), "properties.quota.maxJobCount")
	}
	if c.MaxRecurrence != "" {
		r, err := readRecurrence(c.MaxRecurrence)
		if err != nil {
			return doc, err
		}
		doc = doc.With(r, "properties.quota.maxRecurrence")
	}
	if c.MinRetryInterval != "" {
		doc = doc.With(text(c.MinRetryInterval), "properties.minRetryInterval")
	}
	if c.Disabled {
		doc = doc.With(text(string(scheduler.Disabled)), "properties.state")
	}
	if len(c.Tag) > 0 {
		doc = doc.With(document.ObjectValue(terminal.All(slices.Sorted(maps.Keys(c.Tag)), func(name string) document.Member {
			return document.Member{Name: name, Value: text(c.Tag[name])}
		})...), "tags")
	}
	return doc, nil
}

// readRecurrence reads FREQUENCY or FREQUENCY/N, and an interval as "carillon init" takes it, 5m. Which words and numbers there
// are the scheduler says.
func readRecurrence(flag string) (document.Value, error) {
	if frequency, interval, err := initfile.ReadEvery(flag); err == nil {
		flag = fmt.Sprintf("%s/%d", frequency, interval)
	}
	frequency, interval, given := strings.Cut(flag, "/")
	r := document.ObjectValue().With(document.StringValue(frequency), "frequency")
	if given {
		n, err := strconv.ParseUint(interval, 10, 31)
		if err != nil || n == 0 {
			return document.Value{}, terminal.Hinted(terminal.Usagef("--max-recurrence: %q is not FREQUENCY/N", flag),
				"write minute/5 for every five minutes, or hour")
		}
		r = r.With(document.NumberValue(strconv.FormatUint(n, 10)), "interval")
	}
	return r, nil
}
