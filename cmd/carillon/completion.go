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
)

type completionCmd struct {
	Shell string `arg:"" help:"Shell: bash, zsh or fish." enum:"bash,zsh,fish"`
}

// Help shows examples.
func (completionCmd) Help() string {
	return `Prints a script that completes commands, flags, and names of jobs, events, sources, collections and contexts. Job
names come from the scheduler of the command line, which has one second to respond.

For bash, in ~/.bashrc:

    source <(carillon completion bash)

For zsh, in a directory of $fpath, or after compinit in ~/.zshrc:

    source <(carillon completion zsh)

For fish:

    carillon completion fish > ~/.config/fish/completions/carillon.fish`
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
func valuesAt(ctx context.Context, t *terminal.Terminal, p complete.Place) (found []complete.Candidate, files bool) {
	switch {
	case p.Name == "path", p.Holder == "FILE", p.Holder == "DIR":
		return nil, true
	case p.Name == "context":
		file, err := contexts.Load(t.Lookup)
		if err != nil {
			return nil, false
		}
		return candidates(file.Names()...), false
	case p.Name == "page":
		for _, page := range docs.Pages() {
			found = append(found, complete.Candidate{Word: page.Name, Help: page.Summary})
		}
	case p.Name == "field":
		for _, m := range explain.Ours().Below(p.Word) {
			found = append(found, complete.Candidate{Word: m.Path, Help: m.Description})
		}
	case p.Name == "command":
		parser, _ := newParser(t)
		return complete.Complete(parser.Model, []string{p.Word}, nil)
	case p.Name == "type":
		return candidates(initfile.Types()...), false
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
	return found, false
}

func candidates(words ...string) []complete.Candidate {
	found := make([]complete.Candidate, len(words))
	for i, word := range words {
		found[i] = complete.Candidate{Word: word}
	}
	return found
}

// collectionNames returns the names of all collections, each with a suffix.
func collectionNames(ctx context.Context, api *client.Client, behind string) []complete.Candidate {
	all, err := api.Collections(ctx)
	if err != nil {
		return nil
	}
	var found []complete.Candidate
	for _, one := range all {
		found = append(found, complete.Candidate{Word: one.Name + behind})
	}
	return found
}

// eventNames returns the names of the last events.
func eventNames(ctx context.Context, api *client.Client) (found []complete.Candidate) {
	all, _ := client.Collect(api.Events(ctx, client.EventQuery{}, 0), v1.MaxPage)
	for _, e := range all {
		if one := (complete.Candidate{Word: e.Subject()}); !slices.Contains(found, one) {
			found = append(found, one)
		}
	}
	return found
}

// sourceNames returns the names of all sources.
func sourceNames(ctx context.Context, api *client.Client) (found []complete.Candidate) {
	all, _ := api.Sources(ctx, "")
	for _, s := range all {
		found = append(found, complete.Candidate{Word: s.Key().String()})
	}
	return found
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
