package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/complete"
	"github.com/carillon-sched/carillon/cmd/carillon/contexts"
	"github.com/carillon-sched/carillon/cmd/carillon/docs"
	"github.com/carillon-sched/carillon/cmd/carillon/explain"
	"github.com/carillon-sched/carillon/cmd/carillon/initfile"
	"github.com/carillon-sched/carillon/cmd/carillon/jobs"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/schema"
)

type completionCmd struct {
	Shell string `arg:"" help:"Shell: bash, zsh or fish." enum:"bash,zsh,fish"`
}

// Run prints the script.
func (c completionCmd) Run(t *terminal.Terminal) error {
	text, err := complete.Script(c.Shell)
	t.Printf("%s", text)
	return err
}

// completeCmd is called by the completion scripts.
type completeCmd struct {
	Words []string `arg:"" optional:"" help:"The words of the command line up to the cursor."`
}

// askFor limits the wait for a scheduler, because the user has just pressed a key.
const askFor = time.Second

// Run prints the possible next words with their help, one per line. The shell completes file names itself.
func (c completeCmd) Run(ctx context.Context, t *terminal.Terminal) error {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	parser, _ := newParser(t)
	values := func(p complete.Place) ([]complete.Candidate, bool) { return valuesAt(ctx, t, p) }
	found, files := complete.Complete(parser.Model, c.Words, values)
	for _, f := range found {
		if f.Help != "" {
			f.Word += "\t" + f.Help
		}
		t.Printf("%s\n", f.Word)
	}
	if files {
		t.Printf(":files\n")
	}
	return nil
}

// valuesAt returns the values that depend on a scheduler or a file. It ignores errors.
func valuesAt(ctx context.Context, t *terminal.Terminal, p complete.Place) ([]complete.Candidate, bool) {
	switch {
	case p.Name == "path", p.Holder == "FILE", p.Holder == "DIR":
		return nil, true
	case p.Name == "context":
		file, err := contexts.Load(t.Lookup)
		if err != nil {
			return nil, false
		}
		return terminal.All(file.Names(), candidate), false
	case p.Name == "page":
		return terminal.All(docs.Pages(), func(p docs.Page) complete.Candidate {
			return complete.Candidate{Word: p.Name, Help: p.Summary}
		}), false
	case p.Name == "field":
		return terminal.All(explain.Ours().Below(p.Word), func(m schema.Member) complete.Candidate {
			return complete.Candidate{Word: m.Path, Help: m.Description}
		}), false
	case p.Name == "command":
		parser, _ := newParser(t)
		return complete.Complete(parser.Model, []string{p.Word}, nil)
	case p.Name == "type":
		return terminal.All(initfile.Types(), candidate), false
	case p.Name == "collection", p.Name == "job", p.Name == "event", p.Name == "source":
		api, collection, err := remote.Guess(t, p.Given)
		switch {
		case err != nil:
			return nil, false
		case p.Name == "collection":
			return collectionNames(ctx, api, ""), false
		case p.Name == "event":
			return eventNames(ctx, api), false
		case p.Name == "source":
			return sourceNames(ctx, api), false
		}
		return jobNames(ctx, api, collection, p.Word), false
	}
	return nil, false
}

func candidate(word string) complete.Candidate { return complete.Candidate{Word: word} }

// collectionNames returns the names of all collections, each with a suffix.
func collectionNames(ctx context.Context, api *client.Client, behind string) []complete.Candidate {
	all, _ := api.Collections(ctx)
	return terminal.All(all, func(c *client.Collection) complete.Candidate { return candidate(c.Name + behind) })
}

// eventNames returns the names of the last events.
func eventNames(ctx context.Context, api *client.Client) (found []complete.Candidate) {
	all, _ := client.Collect(api.Events(ctx, client.EventQuery{}, 0), v1.MaxPage)
	for _, e := range all {
		if one := candidate(e.Subject()); !slices.Contains(found, one) {
			found = append(found, one)
		}
	}
	return found
}

// sourceNames returns the names of all sources.
func sourceNames(ctx context.Context, api *client.Client) []complete.Candidate {
	all, _ := api.Sources(ctx, "")
	return terminal.All(all, func(s *client.Source) complete.Candidate { return candidate(s.Key().String()) })
}

// jobNames returns the jobs of a collection and the other collections; after "collection/", the jobs of that collection.
func jobNames(ctx context.Context, api *client.Client, collection, word string) []complete.Candidate {
	prefix := ""
	if named, _, ok := strings.Cut(word, "/"); ok {
		collection, prefix = named, named+"/"
	}
	var found []complete.Candidate
	own, err := client.Collect(api.List(ctx, client.Query{Collection: collection}), 0)
	if err == nil {
		for _, j := range own {
			found = append(found, complete.Candidate{Word: prefix + j.Key().Job, Help: string(j.State) + ", " + jobs.When(j)})
		}
	}
	if prefix != "" {
		return found
	}
	others := collectionNames(ctx, api, "/")
	return append(found, slices.DeleteFunc(others, func(c complete.Candidate) bool { return c.Word == collection+"/" })...)
}
