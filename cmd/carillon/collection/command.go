package collection

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/carillon-sched/carillon/cmd/carillon/export"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// Command are the commands that deal with collections.
type Command struct {
	Create  Create  `cmd:"" help:"Create a collection."`
	Get     Get     `cmd:"" help:"Show a collection."`
	List    List    `cmd:"" aliases:"ls" help:"List collections."`
	Delete  Delete  `cmd:"" aliases:"rm" help:"Delete collections."`
	Enable  Enable  `cmd:"" help:"Enable disabled collections, so that their jobs run again."`
	Disable Disable `cmd:"" help:"Disable collections, so that their jobs stop."`
	Pause   Pause   `cmd:"" help:"Pause all jobs of collections until a given time."`
	Resume  Resume  `cmd:"" help:"Resume all paused jobs of collections."`
}

// Get shows a collection.
type Get struct {
	remote.Server

	Name   string `arg:"" name:"collection" help:"Name of the collection."`
	Output string `short:"o" help:"Print as yaml or json." enum:"yaml,json," default:"" placeholder:"FORMAT"`
}

// Run shows the collection.
func (c Get) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	if t.JSON && c.Output == "yaml" {
		return terminal.Usagef("--json and --output yaml exclude each other")
	}
	if err := checkNames(c.Name); err != nil {
		return err
	}
	got, err := api.Collection(ctx, c.Name)
	if err != nil {
		return err
	}
	if t.JSON || c.Output == "json" {
		return t.PrintJSON(got.Document)
	}
	d, err := export.Collection(got)
	if err != nil {
		return err
	}
	t.Printf("%s", d.YAML())
	return nil
}

// List lists collections.
type List struct{ remote.Server }

// Run lists the collections.
func (List) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	all, err := api.Collections(ctx)
	if err != nil {
		return err
	}
	if t.JSON {
		return t.PrintJSON(terminal.ListOf(all, func(c *client.Collection) json.RawMessage { return c.Document }))
	}
	return terminal.PrintList(t, all, nil, "", []string{"COLLECTION", "STATE", "MAX JOBS", "MAX RECURRENCE", "TAGS"},
		func(c *client.Collection) []string {
			return []string{c.Name, string(c.State), maxJobs(c), maxRecurrence(c), cmp.Or(terminal.Pairs(c.Tags, ","), none)}
		})
}

// none is printed for an unset quota.
const none = "-"

func maxJobs(c *client.Collection) string {
	if c.Quota.MaxJobCount == 0 {
		return none
	}
	return strconv.Itoa(c.Quota.MaxJobCount)
}

// maxRecurrence is a quota as the flag of create takes it.
func maxRecurrence(c *client.Collection) string {
	r := c.Quota.MaxRecurrence
	if r == nil {
		return none
	}
	return fmt.Sprintf("%s/%d", r.Frequency, max(1, r.Interval))
}

// checkNames refuses what cannot be a collection before a scheduler is asked.
func checkNames(names ...string) error {
	for _, name := range names {
		if err := scheduler.ValidateCollection(name); err != nil {
			return terminal.Usage(err)
		}
	}
	return nil
}
