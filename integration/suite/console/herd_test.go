package console

import (
	"encoding/json"
	"flag"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/suite/console/stage"
	"github.com/carillon-sched/carillon/integration/suite/console/tab"
)

// publish puts many jobs at once, as specs over NATS.
func publish(t *testing.T, s *stage.Stage, n int) {
	t.Helper()
	nc, err := nats.Connect(s.NATS)
	must(t, err)
	defer nc.Close()
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(4000))
	must(t, err)
	for i := range n {
		job := quiet("enabled")
		job["labels"] = map[string]any{"shard": strconv.Itoa(i % 100)}
		data, err := json.Marshal(job)
		must(t, err)
		_, err = js.PublishAsync(fmt.Sprintf("carillon.spec.put.default.job-%05d", i), data, jetstream.WithStallWait(3*time.Minute))
		must(t, err)
	}
	select {
	case <-js.PublishAsyncComplete():
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
}

// counts is whether so many jobs are counted, however their thousands are set apart.
const counts = `document.querySelector('.count')?.innerText.match(/^[\d\s,.]+/)?.[0].replace(/\D/g, '') === '%d' && !document.querySelector('.count .faint')`

// herdSize is how many jobs there are. A hundred thousand take a minute of two busy cores.
var herdSize = flag.Int("jobs", 20_000, "how many jobs TestHerd puts; the console is made for 100000 and more")

// TestHerd goes through very many jobs: finds one while typing, reads on, and changes some of them.
func TestHerd(t *testing.T) {
	s := own(t)
	jobs := max(*herdSize/100*100, 20_000) // which is of whole shards
	began := time.Now()
	publish(t, s, jobs)
	t.Logf("the specs of %d jobs are published after %s", jobs, time.Since(began).Round(time.Millisecond))
	page := open(t, s.HTTP, tab.Look{})
	must(t, s.Await(t.Context(), func() bool { // all have found their places in the index
		must(t, page.Go("/console/jobs?q=job-"))
		all, err := tab.Eval[bool](page, fmt.Sprintf(counts, jobs))
		must(t, err)
		return all
	}))
	t.Logf("they are found after %s", time.Since(began).Round(time.Millisecond))

	must(t, page.Fill("#q", "job-19999"), page.Await(shownJobs+" === 'default/job-19999'"))
	must(t, page.Fill("#q", ""), page.Await(fmt.Sprintf(counts, jobs)), page.Fill("#label", "shard=7"), page.Await(fmt.Sprintf(counts, jobs/100)))
	must(t, page.Click("a[rel=next]"), page.Await("new URLSearchParams(location.search).has('after')"), page.Await(fmt.Sprintf(counts, jobs/100)))
	must(t, page.Go("/console/jobs?sort=next&order=descending"), page.Await("document.querySelectorAll('tr[data-job]').length >= 50"))
	must(t, page.Go("/console/jobs?q=job-123"), page.Text(".count", "100 jobs"), page.Click("input[name=all]"), page.Click("button[value=disable]"))
	must(t, page.Text("h1", "Disable: 100 jobs"), page.Click("form[action$=start] button"), page.Text("#progress", "Finished"))
	must(t, page.Go("/console/jobs?state=disabled"), page.Text(".count", "100 jobs"))
	for _, path := range []string{"/", "/console/collections", "/console/calendar?wait=true", "/console/load?wait=true", "/console/live"} {
		must(t, page.Go(path))
		must(t, page.Await("performance.getEntriesByName('first-contentful-paint').length"))
		took, err := tab.Eval[[]float64](page, "[performance.getEntriesByType('navigation')[0].responseEnd, performance.getEntriesByName('first-contentful-paint')[0].startTime]")
		must(t, err)
		t.Logf("%s was here after %.0f ms, first painted after %.0f ms", path, took[0], took[1])
	}
}
