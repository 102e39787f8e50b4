package web_test

import (
	"testing"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/scheduler"
)

// tripper is a transport without a network.
type tripper = actiontest.Tripper

// attempt is the second try of an occurrence.
func attempt() scheduler.Attempt { return actiontest.Attempt() }

// read reads an action whose member request is the given JSON.
func read(tb testing.TB, client *web.Client, request string) (scheduler.Action, error) {
	tb.Helper()
	a, _, err := actiontest.Read(tb, client, "Http", `{"request":`+request+`}`)
	return a, err
}

// mustRead is read for requests that are right.
func mustRead(tb testing.TB, client *web.Client, kind, request string) scheduler.Action {
	tb.Helper()
	return actiontest.MustRead(tb, client, kind, `{"request":`+request+`}`)
}
