package admin_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console"
	"github.com/carillon-sched/carillon/scheduler/console/admin"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/stats"
)

// job is a document that never runs.
const job = `{"startTime": "2090-01-01T00:00:00Z", "labels": %s, "action": {"type": "http",
	"request": {"method": "GET", "uri": "http://127.0.0.1:1/", "headers": {"x": {"secretRef": "api-key"}}}}}`

// evil is markup that changes the direction of the text.
const evil = "<script>alert(1)</script>\u202e"

// members is an overview.Source with one member.
type members struct{ err error }

func (m members) Board(context.Context) (*stats.Board, error) {
	b := stats.NewBoard(time.Now())
	b.Replicas = []stats.Report{{ID: "m1", Name: "host" + evil, Version: "1.2.3", Server: "nats1", Since: b.Now, InFlight: 1234}}
	return b, m.err
}

func (members) Load(context.Context) (l scheduler.Load, err error) { return l, nil }

func harness(t *testing.T, m members) *consoletest.Harness {
	t.Helper()
	return consoletest.New(t, func(_ *consoletest.Harness, cfg *console.Config) {
		cfg.Activity = m
		cfg.Settings = func() []admin.Setting {
			return []admin.Setting{{Name: "nats-url", Value: "nats://x:xxxxx@h" + evil, Origin: "flag", Live: true}}
		}
	})
}

// as returns a context of a caller with a name, which claims another.
func as(t *testing.T, name, claim string) context.Context {
	t.Helper()
	who := &auth.Principal{Name: name, Via: auth.ViaToken, Address: "192.0.2.7", Grants: []auth.Grant{{Role: auth.Admin}}}
	return control.WithClaim(auth.With(t.Context(), who), claim)
}

func TestAuditLog(t *testing.T) {
	w := harness(t, members{})
	w.Collect("partners")
	put := func(ctx context.Context, key, labels string) {
		t.Helper()
		_, _, err := w.Service.Put(ctx, control.Edit{Key: consoletest.Key(key), Body: fmt.Appendf(nil, job, labels)})
		w.OK(err)
	}
	w.OK(w.Service.PutSecret(t.Context(), "api-key", []byte(`{"value": "hunter2-secret"}`)))
	put(as(t, "alice"+evil, "root"+evil), "partners/report", "{}")
	put(as(t, "bob", ""), "default/nightly", "{}")
	put(as(t, "bob", ""), "default/nightly", `{"team": "x"}`)
	put(as(t, "carol", ""), "default/gone", "{}")
	w.OK(w.Service.Delete(as(t, "carol", ""), consoletest.Key("default/gone"), 0))
	const root = "/console/audit"
	w.Has(w.Get(root), "Audit log", "partners/report", `<a href="/console/jobs/default/nightly"><bdi>default/nightly</bdi></a>`,
		"&lt;script&gt;alert(1)&lt;/script&gt;⟦U&#43;202E⟧", "192.0.2.7", "<bdi>created · enabled</bdi>", "<bdi>labels.team</bdi>", "<bdi>secret api-key</bdi>",
		"!<script>alert", "!hunter2-secret", `aria-current="page">Audit log`)
	for query, want := range map[string][]string{
		"who=BOB":                        {"default/nightly", "!partners/report"},
		"op=delete":                      {"default/gone", "!default/nightly"},
		"kind=secret":                    {"api-key", "!default/nightly"},
		"collection=partners":            {"partners/report", "!default/nightly"},
		"collection=default&job=nightly": {"default/nightly", "!partners/report", `value="nightly"`},
		"collection=default&job=gone":    {"default/gone", "!default/nightly"},
		"since=1h&until=2090-01-01":      {"default/nightly"},
		"since=2089-01-01":               {"No recorded changes."},
		"who=" + url.QueryEscape(evil):   {"No recorded changes.", "!<script>alert"},
		"job=default/nightly&since=1+h":  {"default/nightly"},
		"collection=partners&before=1":   {"No recorded changes."},
		"page=2":                         {"page: unknown parameter, ignored. This page takes: as, before, collection, job, kind, op, since, until, who."},
	} {
		w.Has(w.Get(root+"?"+query), want...)
	}
	w.Has(w.Get(root+"?since=2026-03-09", "Cookie: carillon-zone=America%2FNew_York"), `value="2026-03-09T04:00:00Z"`, "default/nightly")
	for query, want := range map[string]string{
		"op=x": "is not one of put", "kind=x": "is not one of job", "since=x": "does not compare with a time", "before=x": "before", "job=<": "job",
	} {
		w.Wants(http.StatusBadRequest, w.Do(http.MethodGet, root+"?"+query, ""), want, "Audit log")
	}
	for i := range 60 {
		put(as(t, "bob", ""), "default/nightly", fmt.Sprintf(`{"n": "%d"}`, i))
	}
	page := w.Get(root + "?who=bob&kind=job")
	if n := strings.Count(page, "<tr data-line>"); n != 50 {
		t.Errorf("a page has %d changes", n)
	}
	_, older, _ := strings.Cut(page, `rel="next" href="`)
	older, _, _ = strings.Cut(older, `"`)
	w.Has(older, "who=bob", "kind=job")
	if n := strings.Count(w.Get(strings.ReplaceAll(older, "&amp;", "&")), "<tr data-line>"); n != 12 {
		t.Errorf("the last page has %d changes", n)
	}
	w.Has(page, `href="/console/audit?as=csv&amp;kind=job&amp;who=bob"`)
	file := w.Get(root + "?who=bob&kind=job&as=csv")
	if n := strings.Count(file, ",bob,token,192.0.2.7,,job,put,default,nightly,"); n != 62 {
		t.Errorf("the file has %d changes: %.1000s", n, file)
	}
	w.Has(w.Get(root+"?who=bob&kind=job&as=json"), `"op":"put"`)
	w.Wants(http.StatusBadRequest, w.Do(http.MethodGet, root+"?op=x&as=csv", ""), "is not one of put")
	w.Has(w.Get("/console/jobs/default/nightly"), `href="/console/audit?collection=default&amp;job=nightly"`, "<bdi>labels.n</bdi>")
	w.Has(w.Get("/console/collections/partners"), "<bdi>put</bdi>", "<bdi>created · enabled</bdi>")
}

// TestRights shows to a reader nothing, and to the administrator of a collection its changes only.
func TestRights(t *testing.T) {
	w := harness(t, members{})
	w.Collect("partners")
	w.Put("default/nightly", fmt.Sprintf(strings.Replace(job, `{"secretRef": "api-key"}`, `"y"`, 1), "{}"))
	all := []string{"/console/audit", "/console/secrets", "/console/tokens", "/console/members", "/console/settings", "/console/check"}
	for _, path := range all {
		w.Has(w.Get(path), `<a href="/console/audit" aria-current="page" data-go="a">Administration</a>`)
		for _, other := range all {
			w.Has(w.Get(path), `<a class="button" href="`+other+`"`)
		}
	}
	for grant, open := range map[string][]string{
		"reader": {"/console/members"}, "operator": {"/console/members"}, "operator@default": nil, "admin@partners": {"/console/audit"},
	} {
		w.Be(grant)
		for _, path := range all {
			want := http.StatusForbidden
			for _, one := range open {
				if one == path {
					want = http.StatusOK
				}
			}
			w.Wants(want, w.Do(http.MethodGet, path, ""))
		}
		w.Wants(http.StatusForbidden, w.Post("/console/check", nil))
		if menu := w.Get("/"); strings.Contains(menu, "Administration") != strings.HasPrefix(grant, "admin") {
			t.Errorf("the menu of %s is wrong", grant)
		}
	}
	w.Be("admin@partners")
	page := w.Get("/console/audit")
	w.Has(page, `<option selected>partners</option>`, "<bdi>collection partners</bdi>", "!nightly", "!/console/secrets", "!>default<")
	w.Wants(http.StatusForbidden, w.Do(http.MethodGet, "/console/audit?collection=default", ""), "!nightly")
	w.Has(w.Get("/console/audit?as=csv"), ",collection,put,partners,", "!nightly")
	w.Wants(http.StatusForbidden, w.Do(http.MethodGet, "/console/audit?as=csv&collection=default", ""), "!default/nightly")
	w.Wants(http.StatusForbidden, w.Do(http.MethodGet, "/console/audit?job=default/nightly", ""), "!<bdi>default/nightly")
}

func TestSecretsAndTokens(t *testing.T) {
	w := harness(t, members{})
	w.Has(w.Get("/console/secrets"), "No shared secrets.")
	w.Has(w.Get("/console/tokens"), "No tokens.")
	w.OK(w.Service.PutSecret(t.Context(), "api-key", []byte(`{"value": "hunter2-secret", "description": "<b>me</b>"}`)))
	w.OK(w.Service.PutSecret(t.Context(), "unused", []byte(`{"value": "hunter2-secret"}`)))
	w.Put("default/nightly", fmt.Sprintf(job, "{}"))
	w.Has(w.Get("/console/secrets"), "<bdi>api-key</bdi>", "&lt;b&gt;me", "<bdi>k1</bdi>", `href="/console/secrets?used=api-key"`, "!hunter2", "!nightly")
	w.Has(w.Get("/console/secrets?used=api-key"), "Users of api-key", "<li><bdi>default/nightly</bdi></li>")
	w.Has(w.Get("/console/secrets?used=unused"), "No active job, source or collection refers to it.")
	w.Wants(http.StatusBadRequest, w.Do(http.MethodGet, "/console/secrets?used=%3Cb%3E", ""), "!<b>", "<bdi>api-key</bdi>")
	made, text, err := w.Service.CreateToken(t.Context(), []byte(`{"name": "ci", "grants": [{"role": "operator", "collections": ["partners"]}]}`))
	w.OK(err)
	_, _, err = w.Service.CreateToken(t.Context(), []byte(`{"name": "root", "grants": [{"role": "admin"}]}`))
	w.OK(err)
	w.Has(w.Get("/console/tokens"), "<bdi>ci</bdi>", "<bdi>operator@partners</bdi>", "<bdi>valid</bdi>", "!revoked", "!"+text)
	w.OK(w.Service.RevokeToken(t.Context(), made.ID))
	w.Has(w.Get("/console/tokens"), "<bdi>revoked</bdi>", "<bdi>valid</bdi>")
}

func TestMembersAndSettings(t *testing.T) {
	w := harness(t, members{})
	w.Has(w.Get("/console/members"), "host&lt;script&gt;alert(1)&lt;/script&gt;⟦U&#43;202E⟧ m1", "<bdi>1.2.3</bdi>", "1\u202f234", "!<script>alert")
	w.Has(w.Get("/"), "host&lt;script&gt;")
	w.Has(w.Get("/console/settings"), "nats-url", "nats://x:xxxxx@h&lt;script&gt;", "without restart", "!<script>alert")
	w = harness(t, members{fmt.Errorf("%w: gone", scheduler.ErrUnavailable)})
	w.Wants(http.StatusServiceUnavailable, w.Do(http.MethodGet, "/console/members", ""), "host&lt;", "gone")
	w = consoletest.New(t)
	w.HasNone(w.Get("/console/audit"), "/console/members", "/console/settings")
}

// TestCheck loses the baton of a job, and finds and repairs that.
func TestCheck(t *testing.T) {
	w := harness(t, members{})
	w.Put("default/nightly", fmt.Sprintf(strings.Replace(job, `{"secretRef": "api-key"}`, `"y"`, 1), "{}"))
	w.Has(w.Get("/console/check"), "Check now", "!No problems.")
	w.Has(w.Post("/console/check", nil).Body, "No problems.", "Jobs: 1, waiting: 1, running: 0.")
	js, err := jetstream.New(w.NATS)
	w.OK(err)
	for names := js.StreamNames(t.Context()); ; {
		name, open := <-names.Name()
		if !open {
			break
		}
		if strings.HasPrefix(name, "CARILLON_TIMERS") {
			stream, err := js.Stream(t.Context(), name)
			w.OK(errors.Join(err, stream.Purge(t.Context())))
		}
	}
	w.Has(w.Post("/console/check", nil).Body, `<a href="/console/jobs/default/nightly"><bdi>default/nightly</bdi></a>`, "has no baton", "<bdi>found</bdi>")
	w.Has(w.Post("/console/check", url.Values{"fix": {"true"}}).Body, "<bdi>repaired</bdi>")
	w.Has(w.Post("/console/check", nil).Body, "No problems.")
}
