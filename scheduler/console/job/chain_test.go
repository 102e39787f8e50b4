package job_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
)

// TestChain draws the chain of a job on its page, with the last outcomes, and all chains on the page of the graph.
func TestChain(t *testing.T) {
	w := consoletest.New(t)
	w.Work()
	w.Collect("secret")
	const graph = "/console/jobs/graph"
	w.Has(w.Get(graph), "No job has a trigger.")
	action := `"action": {"type": "http", "request": {"method": "GET", "uri": "` + w.Target() + `"}}`
	w.Put("default/extract", `{`+yearly+`, `+action+`}`)
	w.HasNone(w.Get("/console/jobs/default/extract"), `id="job-chain"`)
	w.Put("default/load", `{"trigger": {"on": [{"job": "extract"}, {"source": "orders"}]}, `+action+`}`)
	w.Put("default/alarm", `{"trigger": {"on": [{"job": "load", "outcome": "faulted"}]}, `+action+`}`)
	w.Put("default/report", `{"onlyIf": {"job": "extract", "since": "PT1H"}, `+yearly+`, `+action+`}`)
	w.Put("secret/hidden", `{"trigger": {"on": [{"job": "default/load"}]}, `+action+`}`)
	w.Run("default/extract")
	await(t, w, "secret/hidden", scheduler.OutcomeCompleted, 1)
	for _, path := range []string{graph, graph + "?collection=default", "/console/jobs/default/alarm", "/console/jobs/default/extract"} {
		w.Await(path, func() bool {
			page := w.Get(path)
			return strings.Contains(page, ">faulted</text>") && strings.Count(page, `c-node t-completed`) == 3
		})
		w.Has(w.Get(path), `<a href="/console/jobs/default/load"><g class="c-node t-completed"`, `<title>default/load: completed</title>`,
			`<a href="/console/events?collection=default&amp;event=orders"><bdi>default.orders</bdi></a>`, ">hidden</text>",
			`stroke-dasharray="6 4"`, ">onlyIf completed</text>", ">report</text>")
	}
	w.Has(w.Get(graph+"?collection=secret"), ">hidden</text>", "!>alarm</text>")
	w.Be("reader@default")
	w.HasNone(w.Get(graph), ">hidden</text>")
	w.Wants(http.StatusForbidden, w.Do(http.MethodGet, graph+"?collection=secret", ""))
}
