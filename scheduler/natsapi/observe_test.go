package natsapi_test

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler/natsapi"
)

// heard is what observers were told.
type heard struct {
	mu   sync.Mutex
	told []string
}

func (h *heard) add(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told = append(h.told, text)
}

func (h *heard) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string{}, h.told...)
}

// TestObserveRequests shows what is told of requests: the endpoint, with the status that REST would answer with.
func TestObserveRequests(t *testing.T) {
	w := newHarness(t)
	h := &heard{}
	stop := w.api(func(cfg *natsapi.APIConfig) {
		cfg.Observe = func(endpoint string, status int, took time.Duration) {
			if took <= 0 {
				t.Errorf("%s took %s", endpoint, took)
			}
			h.add(endpoint + " " + strconv.Itoa(status))
		}
	})
	w.ask(t, "put.default.a", later)
	w.ask(t, "put.default.a", later)
	w.ask(t, "get.default.none", "")
	w.ask(t, "put.default.a", "{")
	w.ask(t, "list", "")
	stop()
	want := []string{"put 201", "put 200", "get 404", "put 400", "list-all 200"}
	if diff := cmp.Diff(want, h.all()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestObserveSpecs shows what is told of specs: what was asked for, and what became of it.
func TestObserveSpecs(t *testing.T) {
	w := newHarness(t)
	h := &heard{}
	stop := w.ingest(func(cfg *natsapi.IngestConfig) {
		cfg.Observe = func(verb, verdict string) { h.add(verb + " " + verdict) }
	})
	for i, spec := range []struct{ subject, body string }{
		{"put.default.a", later}, {"put.default.a", "{"}, {"delete.default.a", ""}, {"explode.default.a", ""},
	} {
		w.publish(spec.subject, spec.body)
		w.await("spec "+strconv.Itoa(i), func() bool { return len(h.all()) > i })
	}
	stop()
	want := []string{"put accepted", "put rejected", "delete accepted", "other rejected"}
	if diff := cmp.Diff(want, h.all()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
