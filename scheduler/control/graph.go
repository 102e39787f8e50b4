package control

import (
	"cmp"
	"context"
	"errors"
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
	var upstream []scheduler.Key
	err = k.eachOf(ctx, keys, func(st scheduler.Stored) {
		listeners := scheduler.StoredListeners(st.Data)
		if len(listeners) > 0 {
			states[st.Key] = string(scheduler.StoredState(st.Data))
		}
		for i := range listeners {
			t, from := listeners[i].From(st.Key)
			edge := v1.GraphEdge{Event: t.String(), Starts: st.Key.String()}
			if from != (scheduler.Key{}) {
				edge.Job, edge.Outcomes = from.String(), listeners[i].Outcome
				upstream = append(upstream, from)
			}
			g.Edges = append(g.Edges, edge)
		}
	})
	if err == nil {
		err = k.addUpstream(ctx, states, upstream, sees)
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

// triggered returns the visible jobs with a trigger, and maybe some that had one. It watches their bucket until it has
// all entries, because a watch reads many entries at a time.
func (k EventKeeper) triggered(ctx context.Context, sees func(collection string) bool) ([]scheduler.Key, error) {
	watching, end := context.WithCancel(ctx)
	defer end()
	found, whole := map[scheduler.Key]bool{}, false
	err := k.shared.Store.Listeners().Watch(watching, func() { whole = true; end() }, func(name string, _ uint64, data []byte) {
		var key scheduler.Key
		if data != nil && key.UnmarshalText([]byte(name)) == nil && sees(key.Collection) {
			found[key] = true
		}
	})
	switch {
	case len(found) > maxGraph:
		return nil, scheduler.Invalid("collection", fmt.Sprintf("more than %d jobs have a trigger: name a collection", maxGraph))
	case whole:
		return slices.Collect(maps.Keys(found)), nil
	}
	return nil, err
}

// eachOf passes the existing jobs.
func (k EventKeeper) eachOf(ctx context.Context, keys []scheduler.Key, pass func(scheduler.Stored)) error {
	var errs []error
	for chunk := range slices.Chunk(keys, batchKeys) {
		errs = append(errs, k.shared.Store.LoadJobs(ctx, chunk, pass))
	}
	return errors.Join(errs...)
}

// addUpstream adds the states of jobs that start others.
func (k EventKeeper) addUpstream(
	ctx context.Context, states map[scheduler.Key]string, upstream []scheduler.Key, sees func(collection string) bool,
) error {
	var ask []scheduler.Key
	for _, key := range upstream {
		if _, known := states[key]; known {
			continue
		}
		states[key] = ""
		if sees(key.Collection) {
			states[key] = "missing"
			ask = append(ask, key)
		}
	}
	return k.eachOf(ctx, ask, func(st scheduler.Stored) { states[st.Key] = string(scheduler.StoredState(st.Data)) })
}
