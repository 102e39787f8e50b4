package main

import (
	"context"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/client"
	"github.com/carillon-sched/carillon/cmd/carillon/printer"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
)

type historyCmd struct {
	remote.Server
	remote.Within

	Name    string              `arg:"" name:"job" optional:"" help:"Name of a job: job, or collection/job. With --follow also collection/ for all of its jobs, or nothing for all there are."`
	Follow  bool                `short:"f" help:"Print what happens from now on, until interrupted."`
	Top     int                 `short:"n" help:"How many records to show." default:"20" placeholder:"N"`
	Outcome []scheduler.Outcome `help:"Show only this outcome: completed, failed, faulted, postponed or skipped. May be repeated." enum:"completed,failed,faulted,postponed,skipped" placeholder:"OUTCOME"`
}

// Help shows examples.
func (historyCmd) Help() string {
	return `Every due instant ends in a record: an attempt that completed or failed, an occurrence that faulted (it failed
after all retries), or instants that were skipped or postponed, with the reason. Records are shown oldest
first; --json prints them as the API has them, one on a line.

Examples:

    carillon history report
    carillon history report -n 100 --outcome failed --outcome faulted
    carillon history --follow
    carillon history --follow billing/
    carillon history report --follow --json`
}

// Run shows a history.
func (c historyCmd) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	k, err := c.target()
	if err != nil {
		return err
	}
	if c.Follow {
		p := printer.New(t, printer.Clock)
		return api.Follow(ctx, k, c.Outcome, p.Print)
	}
	records, err := api.History(ctx, k, c.Outcome, c.Top)
	p := printer.New(t, printer.Dated)
	for _, r := range slices.Backward(records) {
		p.Print(r)
	}
	return err
}

// target is whose history is asked for: of a job, or for a live tail also of a
// collection, or of all.
func (c historyCmd) target() (scheduler.Key, error) {
	collection, whole := strings.CutSuffix(c.Name, "/")
	switch {
	case c.Top < 1:
		return scheduler.Key{}, terminal.Usagef("--top must be at least 1")
	case c.Name != "" && !whole:
		return c.Key(c.Name)
	case !c.Follow:
		return scheduler.Key{}, terminal.Hinted(terminal.Usagef("whose history?"),
			`name a job, or watch all of them with "carillon history --follow"`)
	case c.Name == "":
		return scheduler.Key{}, nil
	}
	if err := scheduler.ValidateName("collection", collection); err != nil {
		return scheduler.Key{}, terminal.Usage(err)
	}
	return scheduler.Key{Collection: collection}, nil
}
