package web_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// tripper is a transport without a network.
type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// attempt is the second try of an occurrence.
func attempt() scheduler.Attempt {
	nominal := time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	return scheduler.Attempt{
		Job:        scheduler.Key{Collection: "default", Job: "nightly"},
		Occurrence: "default/nightly@2026-03-01T09:30:00Z",
		ID:         "default/nightly@2026-03-01T09:30:00Z#2",
		Nominal:    nominal,
		Due:        nominal.Add(30 * time.Second),
		Try:        2,
		Key:        "default/nightly@2026-03-01T09:30:00Z",
		Timeout:    time.Minute,
	}
}

// read reads an action whose member request is the given JSON, with the paths
// of a job document.
func read(tb testing.TB, client *web.Client, kind, request string) (scheduler.Action, error) {
	tb.Helper()
	v, err := document.Parse([]byte(`{"action":{"request":` + request + `}}`))
	if err != nil {
		tb.Fatal(err)
	}
	r := document.NewReader()
	o, ok := r.Object(v, "").Object("action")
	if !ok {
		tb.Fatal("no action")
	}
	action := client.ReadAction(kind, o)
	o.Done()
	return action, r.Err()
}

// mustRead is read for requests that are right.
func mustRead(tb testing.TB, client *web.Client, kind, request string) scheduler.Action {
	tb.Helper()
	action, err := read(tb, client, kind, request)
	if err != nil {
		tb.Fatal(err)
	}
	return action
}
