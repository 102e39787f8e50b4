// Package sources has the commands that deal with sources of events.
package sources

import (
	"cmp"
	"context"
	"strconv"

	"github.com/carillon-sched/carillon/cmd/carillon/edit"
	"github.com/carillon-sched/carillon/cmd/carillon/export"
	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/source"
)

// Command are the commands that deal with sources.
type Command struct {
	List    List    `cmd:"" aliases:"ls" help:"List sources."`
	Show    Show    `cmd:"" aliases:"get" help:"Show a source."`
	Enable  Enable  `cmd:"" aliases:"resume" help:"Enable sources, so that they receive events."`
	Disable Disable `cmd:"" aliases:"pause" help:"Disable sources, so that they receive no events."`
	Edit    Edit    `cmd:"" help:"Edit a source in your editor."`
	Delete  Delete  `cmd:"" aliases:"rm" help:"Delete sources. Their events stay."`
}

// List lists sources.
type List struct {
	remote.Server

	Collection string `short:"c" help:"Only sources of this collection. Default: all collections." env:"CARILLON_COLLECTION" placeholder:"NAME"`
}

// Run lists the sources.
func (c List) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	all, err := api.Sources(ctx, c.Collection)
	return terminal.PrintList(t, all, err, "no sources", []string{"SOURCE", "TYPE", "STATE", "LAG", "LAST EVENT", "PROBLEM"},
		func(s *client.Source) []string {
			p, lag := &s.Properties, ""
			if p.Status.Lag != nil {
				lag = strconv.FormatInt(*p.Status.Lag, 10)
			}
			problem := document.Cut(cmp.Or(p.Status.Damage, p.Status.LastError), shownProblem)
			return []string{s.Key().String(), string(p.Type), string(p.State), lag, t.Time(p.Status.LastEvent, terminal.Dated), problem}
		})
}

// shownProblem limits a problem in a table, in bytes.
const shownProblem = 80

// Show shows a source.
type Show struct {
	remote.Server

	Name       string `arg:"" name:"source" help:"Name of a source: source, or collection/source."`
	Collection string `short:"c" help:"Collection of a source that is named without one." default:"default" env:"CARILLON_COLLECTION" placeholder:"NAME"`
}

// Run shows the source.
func (c Show) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	s, err := c.source(ctx, api)
	if err != nil {
		return err
	}
	if t.JSON {
		return t.PrintJSON(s.Document)
	}
	v, err := document.Parse(s.Document)
	if err != nil {
		return err
	}
	t.Printf("%s", v.YAML())
	return nil
}

func (c Show) source(ctx context.Context, api *client.Client) (*client.Source, error) {
	k, err := key(c.Collection, c.Name)
	if err != nil {
		return nil, err
	}
	return api.Source(ctx, k)
}

// key reads source or collection/source.
func key(collection, name string) (scheduler.Key, error) {
	k := scheduler.KeyIn(collection, name)
	if err := source.ValidateKey(k); err != nil {
		return k, terminal.Usage(err)
	}
	return k, nil
}

// names are the arguments of a command that does one thing to each of some sources.
type names struct {
	remote.Server

	Names      []string `arg:"" name:"source" help:"Names of sources: source, or collection/source."`
	Collection string   `short:"c" help:"Collection of sources that are named without one." default:"default" env:"CARILLON_COLLECTION" placeholder:"NAME"`
}

// each calls do for every source, and continues after an error.
func (n names) each(ctx context.Context, t *terminal.Terminal, done string, do func(k scheduler.Key) error) error {
	for _, name := range n.Names {
		if _, err := key(n.Collection, name); err != nil {
			return err
		}
	}
	return remote.EachOf(ctx, t, "source", n.Names, func(name string) (string, error) {
		return done, do(scheduler.KeyIn(n.Collection, name))
	}, nil)
}

func (n names) turn(ctx context.Context, t *terminal.Terminal, api *client.Client, state scheduler.State) error {
	return n.each(ctx, t, string(state), func(k scheduler.Key) error {
		_, err := api.PatchSource(ctx, k, []byte(`{"properties": {"state": "`+string(state)+`"}}`), client.PutOptions{})
		return err
	})
}

// Enable enables sources.
type Enable struct{ names }

// Run enables the sources.
func (c Enable) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	return c.turn(ctx, t, api, scheduler.Enabled)
}

// Disable disables sources.
type Disable struct{ names }

// Run disables the sources.
func (c Disable) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	return c.turn(ctx, t, api, scheduler.Disabled)
}

// Delete deletes sources.
type Delete struct{ names }

// Run deletes the sources.
func (c Delete) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	return c.each(ctx, t, "deleted", func(k scheduler.Key) error { return api.DeleteSource(ctx, k) })
}

// Edit changes a source in an editor.
type Edit struct{ Show }

// Run edits a source.
func (c Edit) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	s, err := c.source(ctx, api)
	if err != nil {
		return err
	}
	d, err := export.Source(s)
	if err != nil {
		return err
	}
	k := s.Key()
	f, err := edit.Create(t, k.Job, string(d.YAML()))
	if err != nil {
		return err
	}
	r := jobfile.Reader{Lookup: t.Lookup}
	before, err := f.Document(r, source.Kind, k)
	if err != nil { // it is damaged
		f.Remove()
		return err
	}
	done, err := f.Apply(ctx, t, func(ctx context.Context) (string, error) {
		v, err := f.Document(r, source.Kind, k)
		patch, changed := document.Patch(before, v)
		if !changed || err != nil {
			return "unchanged", err
		}
		_, err = api.PatchSource(ctx, k, patch.JSON(), client.PutOptions{IfMatch: s.ETag})
		return "updated", err
	})
	if err == nil {
		t.Printf("%-9s %s\n", done, k)
	}
	return err
}
