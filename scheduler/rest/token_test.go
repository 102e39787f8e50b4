package rest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth/tokens"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/rest"
	"github.com/carillon-sched/carillon/scheduler/rest/identity"
	"github.com/carillon-sched/carillon/scheduler/throttle"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// replica serves the API of another process on the harness's NATS server, with access tokens, and returns its URL.
func (w *harness) replica() string {
	w.t.Helper()
	nc := must.Get(nats.Connect("", nats.InProcessServer(w.server)))(w.t)
	w.t.Cleanup(nc.Close)
	st := must.Get(store.Open(w.t.Context(), nc, store.Config{Storage: w.storage}))(w.t)
	keeper := tokens.NewKeeper(st.Tokens(), st.TokenLedger(), st.Now)
	s := control.New(control.Config{Store: st, Actions: w.actions, Secrets: w.vault, Tokens: keeper})
	storetest.Run(w.t, s.Run)
	find := identity.New(identity.Config{Demand: identity.OnceThereAre, Tokens: keeper}).Find
	api := httptest.NewServer(rest.New(rest.Config{Service: s, Version: "1.2.3", Identify: find}))
	w.t.Cleanup(api.Close)
	return api.URL
}

// TestTokensOnReplicas makes the first token on one of two processes, which shuts the other one, and revokes it: it stops
// working at once on both, and neither is open again.
func TestTokensOnReplicas(t *testing.T) {
	w := newHarness(t)
	one, two := w.replica(), w.replica()
	status := func(url, token string) int {
		if token == "" {
			return w.do(http.MethodGet, url+"/jobCollections", "").status
		}
		return w.do(http.MethodGet, url+"/jobCollections", "", "Authorization: Bearer "+token).status
	}
	for _, url := range []string{one, two} {
		if got := status(url, ""); got != http.StatusOK {
			t.Errorf("before the first token: %d", got)
		}
	}
	made := w.do(http.MethodPost, one+"/tokens", `{"name": "root", "grants": [{"role": "admin"}]}`)
	var root, reader struct {
		ID    string `json:"id"`
		Token string `json:"token"`
	}
	if err := json.Unmarshal([]byte(made.body), &root); err != nil || made.status != http.StatusCreated {
		t.Fatal(made, err)
	}
	both := func(token string, want int) {
		t.Helper()
		for _, url := range []string{one, two} {
			w.await("the other process", func() bool { return status(url, token) == want })
		}
	}
	both("", http.StatusUnauthorized)
	both(root.Token, http.StatusOK)
	made = w.do(http.MethodPost, two+"/tokens", `{"grants": [{"role": "reader", "collections": ["mine"]}]}`, "Authorization: Bearer "+root.Token)
	if err := json.Unmarshal([]byte(made.body), &reader); err != nil || made.status != http.StatusCreated {
		t.Fatal(made, err)
	}
	if got := status(one, reader.Token); got != http.StatusOK { // at once: it is read when nobody has told of it yet
		t.Errorf("a new token: %d", got)
	}
	list := w.do(http.MethodGet, one+"/tokens", "", "Authorization: Bearer "+root.Token)
	if !strings.Contains(list.body, `"name":"root","grants":[{"role":"admin"}]`) || strings.Contains(list.body, "hash") ||
		strings.Contains(list.body, root.Token[15:30]) {
		t.Errorf("the list is %s", list.body)
	}
	if r := w.do(http.MethodPost, one+"/tokens", `{"grants": [{"role": "admin"}]}`, "Authorization: Bearer "+reader.Token); r.status != http.StatusForbidden {
		t.Errorf("a reader makes an admin: %d", r.status)
	}
	if r := w.do(http.MethodDelete, two+"/tokens/"+root.ID, "", "Authorization: Bearer "+root.Token); r.status != http.StatusOK {
		t.Errorf("revoking: %d %s", r.status, r.body)
	}
	if got := status(two, root.Token); got != http.StatusUnauthorized {
		t.Errorf("a revoked token, where it was revoked: %d", got)
	}
	both(root.Token, http.StatusUnauthorized)
	both("", http.StatusUnauthorized)
	both(reader.Token, http.StatusOK)
}

// TestTokenBucketIsReplaced empties the bucket of tokens, and brings an old copy of a revoked token back: a process that starts
// after that asks for a token, and does not take that one.
func TestTokenBucketIsReplaced(t *testing.T) {
	w := newHarness(t)
	one := w.replica()
	made := w.do(http.MethodPost, one+"/tokens", `{"grants": [{"role": "admin"}]}`)
	var root struct {
		ID    string `json:"id"`
		Token string `json:"token"`
	}
	if err := json.Unmarshal([]byte(made.body), &root); err != nil {
		t.Fatal(made, err)
	}
	bucket := w.store.Tokens()
	old := must.Get(bucket.Load(t.Context(), root.ID))(t)
	if r := w.do(http.MethodDelete, one+"/tokens/"+root.ID, "", "Authorization: Bearer "+root.Token); r.status != http.StatusOK {
		t.Fatalf("revoking: %d %s", r.status, r.body)
	}
	now, err := bucket.Load(t.Context(), root.ID)
	if err == nil {
		err = bucket.Remove(t.Context(), root.ID, now.Revision)
	}
	if err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		t.Helper()
		two := w.replica()
		for _, headers := range [][]string{nil, {"Authorization: Bearer " + root.Token}} {
			if r := w.do(http.MethodGet, two+"/jobCollections", "", headers...); r.status != http.StatusUnauthorized {
				t.Errorf("%s, with %d headers: %d %s", when, len(headers), r.status, r.body)
			}
		}
	}
	check("with an empty bucket")
	must.Get(bucket.Save(t.Context(), root.ID, old.Data, 0))(t)
	check("with an old copy")
}

// TestRevokedTokenEndsItsTail shows that a live tail of any form ends on each of two processes when its token is revoked on one of them:
// nothing more is told to who has it.
func TestRevokedTokenEndsItsTail(t *testing.T) {
	w := newHarness(t)
	urls := []string{w.replica(), w.replica()}
	made := w.do(http.MethodPost, urls[0]+"/tokens", `{"name": "root", "grants": [{"role": "admin"}]}`)
	var root, doomed v1.NewToken
	must.Do(t, json.Unmarshal([]byte(made.body), &root))
	made = w.do(http.MethodPost, urls[1]+"/tokens", `{"grants": [{"role": "admin"}]}`, as(root.Text))
	must.Do(t, json.Unmarshal([]byte(made.body), &doomed))
	tails := map[string]io.ReadCloser{}
	for _, url := range urls {
		for _, path := range []string{"/history?follow=true", "/history", "/jobCollections/default/history?follow=true&as=sse", "/audit?follow=true"} {
			headers := []string{as(doomed.Text)}
			if path == "/history" {
				headers = append(headers, "Accept: text/event-stream")
			}
			tail := w.stream(url+path, headers...)
			time.AfterFunc(patience, tail.end)
			if tail.status != http.StatusOK {
				t.Fatal(url, path, tail.status)
			}
			tails[url+path] = tail.body
		}
	}
	if r := w.do(http.MethodDelete, urls[1]+"/tokens/"+doomed.ID, "", as(root.Text)); r.status != http.StatusOK {
		t.Fatal(r)
	}
	for path, body := range tails {
		if _, err := io.Copy(io.Discard, body); err != nil {
			t.Errorf("the tail %s did not end: %v", path, err)
		}
	}
}

// TestRate lets each token have its rate, and each address where nobody is asked.
func TestRate(t *testing.T) {
	for _, who := range []string{"", "reader"} {
		w := newHarness(t, func(cfg *rest.Config) {
			cfg.Rate = throttle.New(0.001, 5)
			if who != "" {
				cfg.Identify = byGrants
			}
		})
		var last reply
		for range 5 {
			if last = w.do(http.MethodGet, "/jobCollections", "", bearer(who)...); last.status != http.StatusOK {
				t.Fatalf("%q: %d %s", who, last.status, last.body)
			}
		}
		last = w.do(http.MethodGet, "/jobCollections", "", bearer(who)...)
		if last.status != http.StatusTooManyRequests || last.header.Get("Retry-After") == "" || !strings.Contains(last.body, `"code":"TooManyRequests"`) {
			t.Errorf("%q: %d %v %s", who, last.status, last.header, last.body)
		}
		if r := w.do(http.MethodGet, "/healthz", ""); r.status != http.StatusOK {
			t.Errorf("%q: health: %d", who, r.status)
		}
	}
}
