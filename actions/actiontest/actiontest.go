// Package actiontest holds what the tests of action packages share: an attempt, and helpers that parse and
// invoke actions.
package actiontest

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Attempt is the second try of an occurrence of the job default/nightly. It may take a minute.
func Attempt() scheduler.Attempt {
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

// Read reads an action of a type from JSON, as part of a job document, and returns the resulting document. The error
// is a [document.Problems], with the paths of a job.
func Read(tb testing.TB, reader scheduler.ActionReader, kind, action string) (scheduler.Action, document.Value, error) {
	tb.Helper()
	return ReadWith(tb, document.NewReader(), reader, kind, action)
}

// ReadWith is [Read] with a document reader of the caller's.
func ReadWith(
	tb testing.TB, r *document.Reader, reader scheduler.ActionReader, kind, action string,
) (scheduler.Action, document.Value, error) {
	tb.Helper()
	v, err := document.Parse([]byte(`{"action":` + action + `}`))
	if err != nil {
		tb.Fatal(err)
	}
	o, ok := r.Object(v, "").Object("action")
	if !ok {
		tb.Fatal("no action")
	}
	o.Ignore("type")
	a := reader.ReadAction(kind, o)
	o.Done()
	return a, v, r.Err()
}

// MustRead is [Read] for actions that are right.
func MustRead(tb testing.TB, reader scheduler.ActionReader, kind, action string) scheduler.Action {
	tb.Helper()
	a, _, err := Read(tb, reader, kind, action)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// Invoke runs an attempt as the scheduler's worker does: it ends with its timeout, and is timed.
func Invoke(ctx context.Context, action scheduler.Action, at scheduler.Attempt) scheduler.Result {
	ctx, cancel := context.WithTimeout(ctx, at.Timeout)
	defer cancel()
	start := time.Now()
	result := action.Invoke(ctx, at)
	result.Duration = time.Since(start)
	return result
}

// Tripper is an [http.RoundTripper] that is a function.
type Tripper func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f Tripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// Stuck is a host that never answers.
var Stuck = Tripper(func(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
})
