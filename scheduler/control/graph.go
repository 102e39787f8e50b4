package control

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// maxGraph limits the jobs with a trigger in a graph.
const maxGraph = 10_000

// Graph returns the events and jobs that start the visible jobs. A named collection must exist.
func (k EventKeeper) Graph(ctx context.Context, collection string, sees func(collection string) bool) (*v1.Graph, error) {
	if err := k.check(ctx, &EventQuery{Topic: scheduler.Topic{Collection: collection}}); err != nil {
		return nil, err
	}
	release, err := takeTurn(ctx, k.shared.searching)
	if err != nil {
		return nil, err
	}
	defer release()
	keys, err := k.triggered(ctx, sees)
	if err != nil {
		return nil, err
	}
	g, states := &v1.Graph{Jobs: []v1.GraphJob{}, Edges: []v1.GraphEdge{}}, map[scheduler.Key]string{}
	var others []scheduler.Key
	err = k.shared.eachOf(ctx, keys, func(st scheduler.Stored) {
		for _, l := range scheduler.StoredLinks(st.Data).Links(st.Key) {
			states[st.Key] = string(scheduler.StoredState(st.Data))
			edge := v1.GraphEdge{Event: l.Topic.String(), Starts: st.Key.String(), Outcomes: l.Outcomes, Condition: l.Asks}
			switch {
			case l.Starts:
				edge.Job, edge.Starts = st.Key.String(), l.Job.String()
			case l.Job != (scheduler.Key{}):
				edge.Job = l.Job.String()
			}
			g.Edges, others = append(g.Edges, edge), append(others, l.Job)
		}
	})
	if err == nil {
		err = k.addLinked(ctx, states, others, sees)
	}
	for key, state := range states {
		g.Jobs = append(g.Jobs, v1.GraphJob{Name: key.String(), State: state})
	}
	slices.SortFunc(g.Jobs, func(a, b v1.GraphJob) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(g.Edges, func(a, b v1.GraphEdge) int {
		return cmp.Or(cmp.Compare(a.Source(), b.Source()), cmp.Compare(a.Starts, b.Starts), slices.Compare(a.Outcomes, b.Outcomes))
	})
	return g, err
}

// triggered returns the visible jobs with a link, and maybe some that had one.
func (k EventKeeper) triggered(ctx context.Context, sees func(collection string) bool) ([]scheduler.Key, error) {
	found := map[scheduler.Key]bool{}
	err := k.shared.eachHeard(ctx, func(key scheduler.Key, _ scheduler.Heard) {
		if sees(key.Collection) {
			found[key] = true
		}
	})
	if len(found) > maxGraph {
		text := fmt.Sprintf("more than %d jobs have links to events or jobs: name a collection", maxGraph)
		return nil, scheduler.Invalid("collection", text)
	}
	return slices.Collect(maps.Keys(found)), err
}

// addLinked adds the states of jobs that others name.
func (k EventKeeper) addLinked(
	ctx context.Context, states map[scheduler.Key]string, others []scheduler.Key, sees func(collection string) bool,
) error {
	var ask []scheduler.Key
	for _, key := range others {
		if _, known := states[key]; known || key == (scheduler.Key{}) {
			continue
		}
		states[key] = ""
		if sees(key.Collection) {
			states[key] = "missing"
			ask = append(ask, key)
		}
	}
	return k.shared.eachOf(ctx, ask, func(st scheduler.Stored) { states[st.Key] = string(scheduler.StoredState(st.Data)) })
}
