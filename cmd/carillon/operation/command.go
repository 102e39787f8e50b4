// Package operation has the commands that deal with operations on many jobs.
package operation

import (
	"context"

	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// Command are the commands that deal with operations.
type Command struct {
	List   List   `cmd:"" aliases:"ls" help:"List operations, newest first."`
	Show   Show   `cmd:"" aliases:"get" help:"Show an operation and its failures."`
	Cancel Cancel `cmd:"" help:"Stop operations between jobs."`
}

// scope is the flag of callers with rights on one collection.
type scope struct {
	remote.Server

	Collection string `short:"c" help:"Only operations on this collection; a role on this collection is sufficient." placeholder:"NAME"`
}

// List lists operations.
type List struct{ scope }

// Run lists the operations.
func (c List) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	all, err := api.Operations(ctx, c.Collection)
	return terminal.PrintList(t, all, err, "", []string{"OPERATION", "VERB", "STATE", "DONE", "CREATED", "BY"},
		func(op *v1.Operation) []string {
			return []string{op.ID, op.Verb, string(op.State), remote.Progress(op), t.Time(op.Created, terminal.Dated), op.By.Name}
		})
}

// Show shows an operation.
type Show struct {
	scope

	ID     string `arg:"" name:"operation" help:"ID of the operation."`
	Follow bool   `short:"f" help:"Wait until it has ended. The exit code is 1 if any job failed."`
}

// Run shows the operation.
func (c Show) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	op, err := api.Operation(ctx, c.ID, c.Collection)
	switch {
	case err != nil:
		return err
	case c.Follow:
		return remote.Follow(ctx, t, api, op)
	}
	return remote.ShowOperation(t, op)
}

// Cancel cancels operations.
type Cancel struct {
	scope

	IDs []string `arg:"" name:"operation" help:"IDs of operations."`
}

// Run cancels the operations.
func (c Cancel) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	return remote.EachOf(ctx, t, "operation", c.IDs, func(id string) (string, error) {
		op, err := api.CancelOperation(ctx, id, c.Collection)
		return string(op.State), err
	}, nil)
}
