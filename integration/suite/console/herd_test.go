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
	"github.com/carillon-sched/carillon/scheduler"
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

// historySize is how many past runs these jobs have. Ten million take 4 GB and some minutes.
var historySize = flag.Int("records", 0, "how many records of past runs TestHerd stores; the console is made for 10000000 and more")

// pastRuns stores records of past runs of the jobs, a minute apart, the newest of which ended now.
func pastRuns(t *testing.T, s *stage.Stage, jobs, records int) {
	t.Helper()
	nc, err := nats.Connect(s.NATS)
	must(t, err)
	defer nc.Close()
	rounds, now := records/jobs, time.Now().UTC().Truncate(time.Second)
	for round := range rounds {
		due := now.Add(-time.Duration(rounds-round) * time.Minute)
		for i := range jobs {
			k := scheduler.Key{Collection: "default", Job: fmt.Sprintf("job-%05d", i)}
			r := scheduler.Record{
				Job: k, ID: scheduler.OccurrenceID(k, due) + "/1", Occurrence: scheduler.OccurrenceID(k, due), Outcome: scheduler.OutcomeCompleted,
				Nominal: due, Due: due, Started: due.Add(time.Millisecond), Ended: due.Add(20 * time.Millisecond), Duration: 19 * time.Millisecond,
				Status: 200, Message: "HTTP 200 OK", Summary: "200 OK", Type: "http", Target: "127.0.0.1:9", Try: 1,
			}
			data, err := r.Encode()
			must(t, err)
			must(t, nc.Publish("carillon.history.default."+k.Job+".completed", data))
			if i%1000 == 0 { // the server drops what it has no room for
				_, err := nc.Request("carillon.history.default."+k.Job+".completed", data, time.Minute)
				must(t, err)
			}
		}
	}
}

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
	pastRuns(t, s, jobs, *historySize)
	t.Logf("%d records are stored after %s", *historySize, time.Since(began).Round(time.Second))
	for _, path := range []string{"/", "/console/jobs", "/console/jobs/default/job-00001", "/console/failures", "/console/collections", "/console/calendar?wait=true", "/console/load?wait=true", "/console/live"} {
		must(t, page.Go(path))
		must(t, page.Await("performance.getEntriesByName('first-contentful-paint').length"))
		took, err := tab.Eval[[]float64](page, "[performance.getEntriesByType('navigation')[0].responseEnd, performance.getEntriesByName('first-contentful-paint')[0].startTime]")
		must(t, err)
		t.Logf("%s was here after %.0f ms, first painted after %.0f ms", path, took[0], took[1])
	}
}
