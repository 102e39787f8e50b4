package main

import (
	"context"
	"errors"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/client"
	"github.com/carillon-sched/carillon/scheduler"
)

// remote is what the commands have in common that ask a running scheduler.
type remote struct {
	Server string `help:"Address of the scheduler's REST API." default:"http://127.0.0.1:8080" env:"CARILLON_SERVER" placeholder:"URL"`
}

func (r remote) client() (*client.Client, error) {
	c, err := client.New(r.Server)
	if err != nil {
		return nil, &usageError{err}
	}
	return c, nil
}

// within is the flag that completes names of jobs.
type within struct {
	Collection string `short:"c" help:"Collection of jobs that are named without one." default:"default" placeholder:"NAME"`
}

// key reads job or collection/job.
func (w within) key(name string) (scheduler.Key, error) {
	k := scheduler.Key{Collection: w.Collection, Job: name}
	if c, j, ok := strings.Cut(name, "/"); ok {
		k = scheduler.Key{Collection: c, Job: j}
	}
	if err := k.Validate(); err != nil {
		return k, &usageError{err}
	}
	return k, nil
}

// several are the arguments of a command that does one thing to each of some
// jobs.
type several struct {
	remote
	within

	Names []string `arg:"" name:"job" help:"Names of jobs: job, or collection/job."`
}

// doneJob is a result for programs.
type doneJob struct {
	Job    string `json:"job"`
	Result string `json:"result"`
}

// each does do to every job, says what was done, and goes on after an error.
func (s several) each(ctx context.Context, t *terminal, done string, do func(context.Context, *client.Client, scheduler.Key) error) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	keys := make([]scheduler.Key, len(s.Names))
	for i, name := range s.Names {
		if keys[i], err = s.key(name); err != nil {
			return err
		}
	}
	var failed []error
	for _, k := range keys {
		err := do(ctx, c, k)
		switch {
		case errors.Is(err, scheduler.ErrUnavailable), ctx.Err() != nil:
			return err
		case err != nil:
			t.fail(err)
			failed = append(failed, err)
		case t.json:
			_ = t.printJSON(doneJob{k.String(), done}) // of strings
		default:
			t.printf("%-9s %s\n", done, k)
		}
	}
	return reported(failed)
}
