package job

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// TestPlace places a fork whose branches join at different lengths, and a cycle.
func TestPlace(t *testing.T) {
	for name, test := range map[string]struct {
		links [][2]string
		want  map[string]int // layers
	}{
		"fork and join": {
			[][2]string{{"a", "b"}, {"a", "d"}, {"b", "c"}, {"c", "d"}}, map[string]int{"a": 0, "b": 1, "c": 2, "d": 3},
		},
		"cycle":       {[][2]string{{"a", "b"}, {"b", "c"}, {"c", "b"}}, map[string]int{"a": 0, "c": 0, "b": 1}},
		"only itself": {[][2]string{{"a", "a"}}, map[string]int{"a": 0}},
	} {
		g, nodes := &chain{}, map[string]*node{}
		at := func(name string) *node {
			if nodes[name] == nil {
				nodes[name] = &node{Name: name}
				g.Nodes = append(g.Nodes, nodes[name])
			}
			return nodes[name]
		}
		for _, l := range test.links {
			g.Links = append(g.Links, &link{From: at(l[0]), To: at(l[1])})
		}
		g.place()
		got, places := map[string]int{}, map[string]bool{}
		for _, n := range g.Nodes {
			got[n.Name] = n.layer - 1
			places[fmt.Sprint(n.X, n.Y)] = true
			if n.X+nodeWidth > g.Width || n.Y+nodeHeight > g.Height {
				t.Errorf("%s: %s is outside of the drawing", name, n.Name)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" || len(places) != len(g.Nodes) {
			t.Errorf("%s: %d places (-want +got):\n%s", name, len(places), diff)
		}
	}
}

// TestConnected finds the chain of a job, the nearest edges first, and none of others.
func TestConnected(t *testing.T) {
	all := []v1.GraphEdge{
		{Job: "c/far", Starts: "c/a"}, {Job: "c/x", Starts: "c/y"}, {Job: "c/a", Starts: "c/b"}, {Event: "c.orders", Starts: "c/b"},
	}
	got := connected(all, "c/b")
	if diff := cmp.Diff([]v1.GraphEdge{all[2], all[3], all[0]}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := connected(all, "c/alone"); got != nil {
		t.Errorf("a job without chain has %v", got)
	}
}
