package control_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// TestGraph checks the edges of the visible jobs, and the states of those at their ends.
func TestGraph(t *testing.T) {
	w := newHarness(t)
	w.collection("sales", `{}`)
	of := func(collection, job string) scheduler.Key { return scheduler.Key{Collection: collection, Job: job} }
	w.put(of("default", "extract"), later)
	w.put(of("default", "load"), onEvents(`[{"job": "extract"}, {"source": "orders"}]`))
	w.put(of("default", "alert"), onEvents(`[{"job": "extract", "outcome": "Any"}, {"job": "sales/absent"}]`))
	w.put(of("sales", "report"), onEvents(`{"job": "default/load", "outcome": "faulted"}`))
	w.put(of("default", "names"), strings.Replace(later, "{", `{"onSuccess": ["load"], "onFailure": ["sales/gone"], `, 1))
	w.put(of("sales", "asks"), strings.Replace(later, "{", `{"onlyIf": {"job": "default/extract", "since": "PT1H"}, `, 1))
	w.put(of("default", "gone"), onEvents(`{"source": "orders"}`))
	must.Do(t, w.service.Delete(t.Context(), of("default", "gone"), 0))
	must.Get(w.service.Disable(t.Context(), of("default", "alert")))(t)
	only := func(collection string) func(string) bool { return func(c string) bool { return c == collection } }
	for _, c := range []struct {
		collection string
		sees       func(string) bool
		want       string
	}{
		{"", func(string) bool { return true }, "default.orders>default/load[] default/extract>default/alert[completed faulted] " +
			"default/extract>default/load[completed] default/extract>sales/asks[completed]? default/load>sales/report[faulted] default/names>default/load[completed] default/names>sales/gone[faulted] " +
			"sales/absent>default/alert[completed] | default/alert disabled, default/extract enabled, default/load enabled, " +
			"default/names enabled, sales/absent missing, sales/asks enabled, sales/gone missing, sales/report enabled"},
		{"sales", only("sales"), "default/extract>sales/asks[completed]? default/load>sales/report[faulted] | default/extract , default/load , sales/asks enabled, sales/report enabled"},
		{"", only("none"), "| "},
	} {
		g, err := w.service.Graph(t.Context(), c.collection, c.sees)
		must.Do(t, err)
		var got strings.Builder
		for _, e := range g.Edges {
			fmt.Fprintf(&got, "%s>%s%v%s ", e.Source(), e.Starts, e.Outcomes, map[bool]string{true: "?"}[e.Condition])
		}
		got.WriteString("| ")
		for i, j := range g.Jobs {
			if i > 0 {
				got.WriteString(", ")
			}
			got.WriteString(j.Name + " " + j.State)
		}
		if got.String() != c.want {
			t.Errorf("%q: got %s, want %s", c.collection, &got, c.want)
		}
	}
	if _, err := w.service.Graph(t.Context(), "absent", only("absent")); !errors.Is(err, scheduler.ErrNotFound) {
		t.Errorf("a collection that does not exist: %v", err)
	}
}
