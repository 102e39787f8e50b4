package guard

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/throttle"
)

// operator is a caller who may operate the collection team.
func operator() *auth.Principal {
	return &auth.Principal{Name: "ci", ID: "1", Via: auth.ViaToken, Grants: []auth.Grant{{Role: auth.Operator, Collections: []string{"team"}}}}
}

// TestAdmit checks rate and right, and adds the caller to the context until leave.
func TestAdmit(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	known := func(*http.Request) (*auth.Principal, error) { return operator(), nil }
	g := &Guard{Identify: known, Rate: throttle.New(1e-9, 2), Limited: "too many requests"}
	in, leave, err := g.Admit(r, operator(), auth.Operate, "team")
	if err != nil || auth.From(in.Context()).Name != "ci" || in.Context().Err() != nil {
		t.Fatalf("admitted: %v", err)
	}
	leave()
	if in.Context().Err() == nil {
		t.Error("leave does not end the context")
	}
	if _, _, err := g.Admit(r, operator(), auth.Operate, "other"); !denied(err) {
		t.Errorf("another collection: %v", err)
	}
	_, _, err = g.Admit(r, operator(), auth.Operate, "team")
	if exceeded, ok := errors.AsType[*throttle.Exceeded](err); !ok || exceeded.Message != g.Limited || exceeded.After <= 0 {
		t.Errorf("beyond the rate: %v", err)
	}
	someone := operator()
	someone.ID = "2"
	_, leave, err = g.Admit(r, someone, auth.Operate, "team")
	if err != nil {
		t.Fatalf("another caller: %v", err)
	}
	leave()
	open := &Guard{Identify: Anonymous}
	who, err := open.Identify(r)
	if err != nil || who.Address != "192.0.2.1" {
		t.Fatalf("anybody: %v, %v", who, err)
	}
	_, leave, err = open.Admit(r, who, auth.Administer, "")
	if err != nil {
		t.Fatalf("anybody: %v", err)
	}
	leave()
}

func denied(err error) bool {
	_, ok := errors.AsType[*auth.Denied](err)
	return ok
}

// TestWatch changes what Identify returns during a request, which ends only if the caller has lost the right to it.
func TestWatch(t *testing.T) {
	more := operator()
	more.Grants = append(more.Grants, auth.Grant{Role: auth.Reader})
	less := operator()
	less.Grants[0].Role = auth.Reader
	for name, test := range map[string]struct {
		now    *auth.Principal
		err    error
		right  auth.Right
		grants bool
		ends   bool
	}{
		"unchanged":                      {now: operator(), right: auth.Operate},
		"a revoked token":                {err: &auth.Unknown{Reason: "this token was revoked"}, right: auth.Operate, ends: true},
		"an unavailable store":           {err: context.DeadlineExceeded, right: auth.Operate},
		"a lost right":                   {now: less, right: auth.Operate, ends: true},
		"more grants":                    {now: more, right: auth.Operate},
		"more grants select the answer":  {now: more, right: auth.Operate, grants: true, ends: true},
		"more grants for a list of many": {now: more, right: auth.ReadAny, ends: true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				var changed atomic.Bool
				var asked atomic.Int64
				g := &Guard{Grants: test.grants, Identify: func(*http.Request) (*auth.Principal, error) {
					asked.Add(1)
					if changed.Load() {
						return test.now, test.err
					}
					return operator(), nil
				}}
				in, leave, err := g.Admit(httptest.NewRequest(http.MethodGet, "/", http.NoBody), operator(), test.right, "team")
				if err != nil {
					t.Fatal(err)
				}
				pass := func(n int) { time.Sleep(time.Duration(n) * askAgainEvery); synctest.Wait() }
				pass(2)
				if in.Context().Err() != nil || asked.Load() != 2 {
					t.Fatalf("before the change: %v after %d checks", in.Context().Err(), asked.Load())
				}
				changed.Store(true)
				pass(1)
				if (in.Context().Err() != nil) != test.ends {
					t.Errorf("after the change: %v", in.Context().Err())
				}
				leave()
				before := asked.Load()
				pass(2)
				if asked.Load() != before {
					t.Error("it is watched after its end")
				}
			})
		})
	}
}

// TestRouteTwice adds two handlers of one path: the second must not replace the first in silence.
func TestRouteTwice(t *testing.T) {
	all := Routes{}
	all.Add("/a", http.NotFoundHandler(), http.MethodGet)
	all.Add("/a", http.NotFoundHandler(), http.MethodPost)
	defer func() {
		if got := recover(); got != "guard: two handlers of GET /a" {
			t.Errorf("%v", got)
		}
	}()
	all.Add("/a", http.NotFoundHandler(), http.MethodGet)
}
