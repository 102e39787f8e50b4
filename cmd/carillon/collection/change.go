package collection

import (
	"context"
	"errors"

	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// names are the arguments of a command that does one thing to each of some
// collections.
type names struct {
	remote.Server

	Names []string `arg:"" name:"collection" help:"Names of collections."`
}

// each calls do for every collection, and continues after an error.
func (n names) each(ctx context.Context, t *terminal.Terminal, done string, do func(name string) error) error {
	if err := checkNames(n.Names...); err != nil {
		return err
	}
	return remote.EachOf(ctx, t, "collection", n.Names, func(name string) (string, error) { return done, do(name) }, nil)
}

// Delete deletes collections.
type Delete struct {
	names

	WithJobs bool `name:"with-jobs" help:"Also delete their jobs and histories."`
}

// Run deletes the collections.
func (c Delete) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	return c.each(ctx, t, "deleted", func(name string) error {
		err := api.DeleteCollection(ctx, name, c.WithJobs)
		if errors.Is(err, scheduler.ErrConflict) && !c.WithJobs && name != scheduler.DefaultCollection {
			err = terminal.Hinted(err, "--with-jobs deletes them too")
		}
		return err
	})
}

// Enable enables collections.
type Enable struct{ names }

// Run enables the collections.
func (c Enable) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	return c.each(ctx, t, "enabled", func(name string) error { return api.EnableCollection(ctx, name) })
}

// Disable disables collections.
type Disable struct {
	names

	StopRetries bool `name:"stop-retries" help:"Also cancel attempts in flight and waiting retries."`
}

// Run disables the collections.
func (c Disable) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	active := 0
	defer func() { remote.Continuing(t, active, c.StopRetries) }()
	return c.each(ctx, t, "disabled", func(name string) error {
		if err := api.DisableCollection(ctx, name); err != nil {
			return err
		}
		v, err := api.CancelCollection(ctx, name, v1.CancelRequest{Reason: remote.StopReason, DryRun: !c.StopRetries})
		active += len(v.Occurrences)
		return err
	})
}

// operate applies an operation to the jobs of each collection.
func (n names) operate(ctx context.Context, t *terminal.Terminal, api *client.Client, b v1.OperationRequest) error {
	if err := checkNames(n.Names...); err != nil {
		return err
	}
	for _, name := range n.Names {
		b.Collection = name
		if err := remote.Start(ctx, t, api, b); err != nil {
			return err
		}
	}
	return nil
}

// Pause pauses the jobs of collections.
type Pause struct {
	names

	Until string `required:"true" help:"When the pause ends, as in carillon pause: 2h, 'tomorrow 9:00', 2026-03-02T09:00Z." placeholder:"TIME"`
}

// Run pauses the jobs.
func (c Pause) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	return c.operate(ctx, t, api, v1.OperationRequest{Verb: v1.VerbPause, Until: c.Until})
}

// Resume ends the pauses of the jobs of collections.
type Resume struct{ names }

// Run resumes the jobs.
func (c Resume) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	return c.operate(ctx, t, api, v1.OperationRequest{Verb: v1.VerbEnable, JobSearch: v1.JobSearch{Filter: v1.OnlyPaused}})
}
