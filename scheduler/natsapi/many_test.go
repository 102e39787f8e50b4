package natsapi_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/natsapi"
)

// gated is a source that stores no result before it is opened.
type gated struct {
	natsapi.Source

	asked chan string   // has the job of each result that waits
	open  chan struct{} // closed when they may be stored
}

func (g gated) PublishResult(ctx context.Context, verdict, name string, body []byte) error {
	g.asked <- name
	select {
	case <-g.open:
	case <-ctx.Done():
		return ctx.Err()
	}
	return g.Source.PublishResult(ctx, verdict, name, body)
}

// TestManySpecsAreUnderWay publishes many specs at once, several of them of one job and a few wrong ones: a process does not
// wait for the store with one before it goes on with others. Each is answered for itself, those of a job in their order, and
// who calls the API meanwhile does not wait for them.
func TestManySpecsAreUnderWay(t *testing.T) {
	w := newHarness(t)
	const specs, atOnce, wrongs = 600, 200, 100
	var want []string // verdicts, by sequence
	for i := range specs {
		job, body, verdict := fmt.Sprintf("j%d", i), later, "accepted"
		switch {
		case i%wrongs == wrongs/2+5:
			body, verdict = `{"startTime": "tomorrow"}`, "rejected"
		case i%10 == 0:
			job, body = "same", fmt.Sprintf(`{"description": "%d", %s`, i, later[1:])
		}
		must.Get(w.js.PublishAsync("carillon.spec.put.default."+job, []byte(body)))(t)
		want = append(want, verdict)
	}
	<-w.js.PublishAsyncComplete()
	w.api()
	next := w.results()
	g := gated{w.store, make(chan string, specs), make(chan struct{})}
	w.ingest(func(c *natsapi.IngestConfig) { c.Source = g })
	under, patient := map[string]bool{}, time.After(patience)
	for range atOnce {
		select {
		case job := <-g.asked:
			if under[job] {
				t.Errorf("two specs of %s are under way", job)
			}
			under[job] = true
		case <-patient:
			t.Fatalf("%d are under way, want %d", len(under), atOnce)
		}
	}
	caller := w.connect()
	m, err := caller.RequestWithContext(w.ctx, "carillon.api.put.default.called", []byte(later))
	if err != nil || m.Header.Get("Carillon-Status") != "201" {
		t.Fatalf("%v, %v", m, err)
	}
	close(g.open)
	got, same := make([]string, specs), []uint64{}
	for range specs {
		e := next()
		if got[e.Sequence-1] != "" {
			t.Errorf("spec %d is answered again", e.Sequence)
		}
		if got[e.Sequence-1] = e.Verdict; e.Job == "default/same" {
			same = append(same, e.Sequence)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("verdicts %v\nwant %v", got, want)
	}
	if !slices.IsSorted(same) || len(same) != specs/10 {
		t.Errorf("%d results of one job in the order of %v", len(same), same)
	}
	v, err := w.service.Get(w.ctx, scheduler.Key{Collection: "default", Job: "same"})
	if err != nil || v.Job.Def.Description != "590" {
		t.Errorf("%+v, %v, want the last", v, err)
	}
	w.awaitNoSpecs()
}
