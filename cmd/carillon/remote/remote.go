package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/client"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
)

// Server is the flag of the commands that ask a running scheduler.
type Server struct {
	Address string `name:"server" help:"Address of the scheduler's REST API." default:"http://127.0.0.1:8080" env:"CARILLON_SERVER" placeholder:"URL"`
}

// ProvideClient returns a client of the scheduler, which kong gives to a command's Run. It does no I/O.
func (r Server) ProvideClient() (*client.Client, error) {
	c, err := client.New(r.Address)
	if err != nil {
		return nil, terminal.Usage(err)
	}
	return c, nil
}

// Within is the flag that completes names of jobs.
type Within struct {
	Collection string `short:"c" help:"Collection of jobs that are named without one." default:"default" placeholder:"NAME"`
}

// Key reads job or collection/job.
func (w Within) Key(name string) (scheduler.Key, error) {
	k := scheduler.Key{Collection: w.Collection, Job: name}
	if c, j, ok := strings.Cut(name, "/"); ok {
		k = scheduler.Key{Collection: c, Job: j}
	}
	if err := k.Validate(); err != nil {
		return k, terminal.Usage(err)
	}
	return k, nil
}

// Jobs are the arguments of a command that does one thing to each of some
// jobs.
type Jobs struct {
	Server
	Within

	Names []string `arg:"" name:"job" help:"Names of jobs: job, or collection/job."`
}

// Each does do to every job, says what was done, and goes on after an error.
func (s Jobs) Each(
	ctx context.Context, t *terminal.Terminal, done string, do func(context.Context, scheduler.Key) error,
) error {
	keys := make([]scheduler.Key, len(s.Names))
	for i, name := range s.Names {
		var err error
		if keys[i], err = s.Key(name); err != nil {
			return err
		}
	}
	return EachOf(ctx, t, keys, done, func(k scheduler.Key) error { return do(ctx, k) },
		func(k scheduler.Key) any { return map[string]string{"job": k.String(), "result": done} })
}

// EachOf does do to every thing, says what was done, and goes on after an error, but not without a scheduler. Programs
// are told of all errors at the end.
// document is what programs are told of a thing that is done.
func EachOf[T any](
	ctx context.Context, t *terminal.Terminal, things []T, done string, do func(T) error, document func(T) any,
) error {
	var failed []error
	for _, thing := range things {
		err := do(thing)
		switch {
		case errors.Is(err, scheduler.ErrUnavailable), ctx.Err() != nil:
			return err
		case err != nil:
			if !t.JSON {
				t.Fail(err)
			}
			failed = append(failed, &terminal.Failure{Path: fmt.Sprint(thing), Message: err.Error(), Err: err})
		case t.JSON:
			_ = t.PrintJSON(document(thing)) // of strings
		default:
			t.Printf("%-9s %v\n", done, thing)
		}
	}
	return terminal.Reported(failed...)
}
