package rest_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/rest"
)

// scraped stands for what a process has counted.
type scraped struct{}

func (scraped) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	_, _ = io.WriteString(w, "up 1\n")
}

// TestObserve shows what is told of requests: the operation and not the names in the path, below a resource group as at the
// short path; what is none is "other", and live tails are left out.
func TestObserve(t *testing.T) {
	var mu sync.Mutex
	var told []string
	w := newHarness(t, asking, func(cfg *rest.Config) {
		cfg.Metrics = scraped{}
		cfg.Observe = func(operation string, status int, took time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			if took <= 0 {
				t.Errorf("%s took %s", operation, took)
			}
			told = append(told, operation+" "+strconv.Itoa(status))
		}
	})
	root := as("admin")
	arm := "/subscriptions/" + scheduler.DefaultSubscription + "/resourceGroups/" + scheduler.DefaultGroup + "/providers/Microsoft.Scheduler"
	w.do(http.MethodPut, "/jobCollections/default/jobs/a", `{"startTime": "2099-01-01T00:00:00Z", `+action+`}`, root)
	w.do(http.MethodGet, "/jobCollections/default/jobs/none", "", root)
	w.do(http.MethodHead, arm+"/jobCollections/default/jobs/a?api-version=2016-03-01", "", root)
	w.do(http.MethodGet, "/jobCollections/default/jobs/a", "")
	w.do(http.MethodGet, "/nothing", "", root)
	w.do(http.MethodPost, "/healthz", "", root)
	w.do(http.MethodGet, "/api/v2/schedules/", "", root)
	w.do(http.MethodPost, "/doctor?fix=perhaps", "", root)
	w.do(http.MethodGet, "/history?follow=true&after=x", "", root)
	w.glance("/history?follow=true", root)
	w.glance("/audit?follow=true", root)
	if r := w.do(http.MethodGet, "/metrics", "", as("reader")); r.status != http.StatusOK || r.body != "up 1\n" {
		t.Errorf("metrics: %d %s", r.status, r.body)
	}
	want := []string{
		"PUT /jobCollections/{c}/jobs/{j} 201", "GET /jobCollections/{c}/jobs/{j} 404", "GET /jobCollections/{c}/jobs/{j} 200",
		"GET /jobCollections/{c}/jobs/{j} 401", "other 404", "other 405", "GET /api/v2/schedules 200", "POST /doctor 400", "GET /history 400",
		"GET /metrics 200",
	}
	w.api.Close() // and all is told
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// glance begins a live tail, and leaves.
func (w *harness) glance(path, header string) {
	w.t.Helper()
	tail := w.stream(path, header)
	if err := tail.body.Close(); err != nil || tail.status != http.StatusOK {
		w.t.Fatal(tail.status, err)
	}
}

// TestNoMetrics asks a process that counts nothing.
func TestNoMetrics(t *testing.T) {
	w := newHarness(t)
	if r := w.do(http.MethodGet, "/metrics", ""); r.status != http.StatusNotFound || !strings.Contains(r.body, "no metrics") {
		t.Errorf("%d %s", r.status, r.body)
	}
}
