package events

import (
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// TestTree draws a fork, a chain that two sources start, and a cycle.
func TestTree(t *testing.T) {
	edge := func(from, to string, outcomes ...scheduler.Outcome) v1.GraphEdge {
		return v1.GraphEdge{Job: from, Starts: to, Outcomes: outcomes}
	}
	asks := edge("c/b", "c/x", "completed")
	asks.Condition = true
	g := &v1.Graph{
		Jobs: []v1.GraphJob{
			{Name: "c/a", State: "enabled"},
			{Name: "c/b", State: "disabled"},
			{Name: "c/d", State: "missing"},
			{Name: "c/e"},
			{Name: "c/x", State: "enabled"},
			{Name: "c/y", State: "enabled"},
		},
		Edges: []v1.GraphEdge{
			{Event: "c.orders", Starts: "c/b"},
			edge("c/a", "c/b", "completed"), edge("c/a", "c/e", "completed", "faulted"),
			edge("c/b", "c/d", "faulted"), asks, edge("c/x", "c/y", "completed"), edge("c/y", "c/x", "completed"),
		},
	}
	const want = `event c.orders
└─ c/b (disabled)
   ├─ c/d (missing), on faulted
   └─ c/x, only if completed
      └─ c/y
         └─ c/x …
c/a
├─ c/b (disabled) …
└─ c/e, on completed or faulted
`
	if got := tree(g); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
