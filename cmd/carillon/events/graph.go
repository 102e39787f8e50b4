package events

import (
	"context"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// Graph shows the events and jobs that start jobs.
type Graph struct {
	remote.Server

	Collection string `arg:"" optional:"" help:"Only the jobs of this collection, with the events and jobs that start them."`
}

// Run shows the graph.
func (c Graph) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	g, err := api.Graph(ctx, c.Collection)
	return terminal.PrintOne(t, g, err, func(g *v1.Graph) {
		if len(g.Edges) == 0 {
			t.Complain("hint", "no job has a trigger")
			return
		}
		t.Printf("%s", tree(g))
	})
}

// outcomes names the outcomes of an edge after a comma; "" for completed and for events.
func outcomes(e *v1.GraphEdge) string {
	switch text := scheduler.JoinOutcomes(e.Outcomes); {
	case e.Condition:
		return ", only if " + text
	case text != "" && text != string(scheduler.OutcomeCompleted):
		return ", on " + text
	}
	return ""
}

// forest is a graph as text.
type forest struct {
	strings.Builder

	starts map[string][]*v1.GraphEdge // by source
	states map[string]string
	shown  map[string]bool // sources
}

// tree returns a graph as text: first its events and the jobs that no other one starts, then jobs that start each other.
func tree(g *v1.Graph) string {
	f := &forest{starts: map[string][]*v1.GraphEdge{}, states: map[string]string{}, shown: map[string]bool{}}
	for _, j := range g.Jobs {
		f.states[j.Name] = j.State
	}
	started := map[string]bool{}
	for i := range g.Edges {
		e := &g.Edges[i]
		f.starts[e.Source()] = append(f.starts[e.Source()], e)
		started[e.Starts] = true
	}
	for _, cycles := range []bool{false, true} {
		for i := range g.Edges {
			source := g.Edges[i].Source()
			if !f.shown[source] && (cycles || !started[source]) {
				f.WriteString(f.name(source) + "\n")
				f.below(source, "")
			}
		}
	}
	return f.String()
}

// name returns a source or job, with the state of a job that is not enabled.
func (f *forest) name(source string) string {
	state, isJob := f.states[source]
	switch {
	case !isJob:
		return "event " + source
	case state == "" || state == string(scheduler.Enabled):
		return source
	}
	return source + " (" + state + ")"
}

// below writes the jobs that a source starts.
func (f *forest) below(source, indent string) {
	f.shown[source] = true
	for i, e := range f.starts[source] {
		branch, next := "├─ ", "│  "
		if i == len(f.starts[source])-1 {
			branch, next = "└─ ", "   "
		}
		line := indent + branch + f.name(e.Starts) + outcomes(e)
		again := f.shown[e.Starts] && len(f.starts[e.Starts]) > 0
		if again {
			line += " …"
		}
		f.WriteString(line + "\n")
		if !again {
			f.below(e.Starts, indent+next)
		}
	}
}
