package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/carillon-sched/carillon/cmd/carillon/export"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// Export prints jobs, collections and sources as job files.
type Export struct {
	remote.Server
	remote.Within
	remote.Picked

	Output      string `short:"o" help:"Write a file per job and collection to this directory. Default: standard output." placeholder:"DIR"`
	Collections bool   `help:"Export the collections, with their sources." default:"true" negatable:""`
}

// Run exports jobs.
func (c Export) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	if t.JSON && c.Output != "" {
		return terminal.Usagef("--json and --output exclude each other")
	}
	q, err := c.Query(c.Within)
	if err != nil {
		return err
	}
	jobs, err := client.Collect(api.List(ctx, q), 0)
	if err != nil {
		return err
	}
	var documents []export.Document
	if c.Collections {
		if documents, err = collectionsOf(ctx, api, q, jobs); err != nil {
			return err
		}
	}
	for _, j := range jobs {
		d, err := export.Job(j)
		if err != nil {
			return err
		}
		documents = append(documents, d)
	}
	sound := slices.DeleteFunc(slices.Clone(documents), func(d export.Document) bool { return d.Damaged })
	if err := c.write(t, sound); err != nil {
		return err
	}
	for _, d := range documents {
		for _, note := range d.Notes {
			t.Complain("warning", d.String()+": "+note)
		}
	}
	if n := len(documents) - len(sound); n > 0 {
		return terminal.Hinted(fmt.Errorf("%s damaged, and not exported", terminal.Plural(n, "document is", "documents are")),
			"apply them again from an earlier export; its files are unchanged")
	}
	return nil
}

// collectionsOf returns the selected collections; if jobs are selected, only the collections with such jobs.
func collectionsOf(ctx context.Context, api *client.Client, q client.Query, jobs []*client.Job) ([]export.Document, error) {
	all, err := api.Collections(ctx)
	if err != nil {
		return nil, err
	}
	var documents []export.Document
	for _, one := range all {
		has := slices.ContainsFunc(jobs, func(j *client.Job) bool { return j.Key().Collection == one.Name })
		if q.Collection != "" && q.Collection != one.Name || q.Labels+q.Target != "" && !has {
			continue
		}
		d, err := export.Collection(one)
		if err != nil {
			return nil, err
		}
		documents = append(documents, d)
	}
	return withSources(ctx, api, documents)
}

// withSources adds the sources of exported collections.
func withSources(ctx context.Context, api *client.Client, documents []export.Document) ([]export.Document, error) {
	for _, c := range slices.Clone(documents) {
		all, err := api.Sources(ctx, c.Key.Collection)
		if errors.Is(err, scheduler.ErrNotFound) {
			continue // it has just been deleted, or the scheduler is older than sources
		}
		if err != nil {
			return nil, err
		}
		for _, s := range all {
			d, err := export.Source(s)
			if err != nil {
				return nil, err
			}
			documents = append(documents, d)
		}
	}
	return documents, nil
}

// write prints documents, or writes their files.
func (c Export) write(t *terminal.Terminal, documents []export.Document) error {
	switch {
	case t.JSON:
		return t.PrintJSON(terminal.ListOf(documents, func(d export.Document) json.RawMessage { return d.Value.JSON() }))
	case c.Output == "":
		t.Printf("%s", export.Stream(documents))
		return nil
	}
	return export.WriteFiles(t, c.Output, documents)
}
