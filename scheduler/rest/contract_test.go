package rest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/auth/tokens"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/engine"
	"github.com/carillon-sched/carillon/scheduler/rest"
	"github.com/carillon-sched/carillon/scheduler/rest/openapi"
	"github.com/carillon-sched/carillon/scheduler/throttle"
)

// TestContract asks every operation of the API's document for every answer that it has there, and holds each against it.
func TestContract(t *testing.T) {
	w := newHarness(t)
	hand := engine.New(engine.Config{Store: w.store, Actions: w.actions})
	try := func(ctx context.Context, action scheduler.Action, a scheduler.Attempt) (scheduler.Result, error) {
		if action.Target() == "busy.example:80" {
			return scheduler.Result{}, fmt.Errorf("%w: it is busy", scheduler.ErrConflict)
		}
		return hand.Try(ctx, action, a)
	}
	w.service = control.New(control.Config{
		Store: w.store, Actions: w.actions, Secrets: w.vault, Tokens: tokens.NewKeeper(w.store.Tokens(), w.store.TokenLedger(), w.store.Now), Try: try,
		Failures: failing("default/job"),
	})
	w.serve([]func(*rest.Config){func(cfg *rest.Config) { cfg.Metrics = scraped{} }})
	w.succeed()
	w.beRefused()
	w.beWrong()
	for path, operations := range theAPI().Paths {
		for method, op := range operations {
			for status, answer := range op.Responses {
				media := slices.Collect(maps.Keys(answer.Content))
				if answer.Ref != "" {
					media = []string{"application/json"}
				}
				if len(media) == 0 {
					media = []string{""}
				}
				for _, m := range media {
					if as := strings.TrimSpace(op.ID + " " + status + " " + m); !w.witness.seen[as] {
						t.Errorf("%s %s: never seen: %s", method, path, as)
					}
				}
			}
		}
	}
	for _, f := range openapi.Faults {
		if code := strconv.Itoa(f.Status) + " " + f.Code; !w.witness.codes[code] {
			t.Errorf("the error %s was never seen", code)
		}
	}
}

// exchange is a request, and the status of its answer.
type exchange struct {
	method, path, body string
	status             int
	header             string
}

// The documents of the test.
const (
	contractJob      = `{"startTime": "2031-01-01T00:00:00Z", "recurrence": {"frequency": "month", "interval": 1}, "action": {"type": "http", "request": {"method": "GET", "uri": "http://target.example/"}}}`
	contractOnce     = `{"action": {"type": "http", "request": {"method": "GET", "uri": "http://target.example/"}}}`
	contractSource   = `{"type": "webhook", "webhook": {"verify": {"type": "none"}, "challenge": "challenge", "rateLimit": {"requests": 1, "period": "PT1H"}}}`
	contractAWX      = `{"name": "daily", "rrule": "DTSTART:20300101T000000Z RRULE:FREQ=DAILY;INTERVAL=1", "unified_job_template": "default/job"}`
	contractOnEvents = `{"trigger": {"on": {"source": "orders"}}, "action": {"type": "http", "request": {"method": "GET", "uri": "http://target.example/"}}}`
)

// resourceExchanges are those below /jobCollections, on the short paths and below a resource group.
var resourceExchanges = []exchange{
	{"PUT", "/c", `{"location": "West Europe"}`, 201, ""},
	{"PUT", "/c", `{"location": "West Europe", "tags": {"team": "billing"}}`, 200, ""},
	{"PUT", "/c?dryRun=true", `{"properties": {"quota": {"maxJobCount": 5}}}`, 200, ""},
	{"GET", "", "", 200, ""},
	{"GET", "/c", "", 200, ""},
	{"GET", "/c", "", 304, "If-None-Match: *"},
	{"GET", "/c", "", 412, `If-Match: "other"`},
	{"PATCH", "/c", `{"properties": {"quota": {"maxJobCount": 1}}}`, 200, ""},
	{"POST", "/c/jobs", contractJob, 201, ""},
	{"POST", "/c/jobs", contractJob, 409, ""}, // over the quota
	{"POST", "/c/jobs?dryRun=true", contractJob, 409, ""},
	{"PATCH", "/c", `{"properties": {"quota": {"maxJobCount": 9}}}`, 200, ""},
	{"POST", "/c/jobs?dryRun=true", contractJob, 200, ""},
	{"PUT", "/c/jobs/job", contractJob, 201, ""},
	{"PUT", "/c/jobs/job", contractJob, 200, ""},
	{"PUT", "/c/jobs/job?dryRun=true", `{"recurrence": {"frequency": "day"}, "action": {"type": "http", "request": {"method": "GET", "uri": "http://target.example/?a"}}}`, 200, ""},
	{"GET", "/c/jobs", "", 200, ""},
	{"GET", "/c/jobs/job", "", 200, ""},
	{"GET", "/c/jobs/job", "", 304, "If-None-Match: *"},
	{"PATCH", "/c/jobs/job", `{"properties": {"description": "monthly"}}`, 200, ""},
	{"POST", "/c/jobs/job/disable", "", 200, ""},
	{"POST", "/c/jobs/job/pause", `{"until": "2h"}`, 200, ""},
	{"POST", "/c/jobs/job/cancel", "", 409, ""},
	{"POST", "/c/jobs/job/cancel", `{"dryRun": true}`, 200, ""},
	{"POST", "/c/cancel", `{"reason": "wrong"}`, 200, ""},
	{"POST", "/c/jobs/job/try", "", 200, ""},
	{"POST", "/c/jobs/job/try", `{"action": {"type": "http", "request": {"method": "GET", "uri": "http://busy.example/"}}}`, 409, ""},
	{"POST", "/c/jobs/job/enable", "", 200, ""},
	{"POST", "/c/disable", "", 200, ""},
	{"POST", "/c/enable", "", 200, ""},
	{"POST", "/c/jobs/job/run", "", 200, ""},
	{"POST", "/c/jobs/job/run", "", 409, ""}, // it has begun
	{"GET", "/c/history", "", 200, ""},
	{"GET", "/c/audit", "", 200, ""},
	{"POST", "/c/events/orders", `{"total": 7}`, 202, "Ce-Type: order"},
	{"GET", "/c/events", "", 200, ""},
	{"PUT", "/c/sources/hook", contractSource, 201, ""},
	{"PUT", "/c/sources/hook", contractSource, 200, ""},
	{"GET", "/c/sources/hook", "", 200, ""},
	{"GET", "/c/sources/hook", "", 304, "If-None-Match: *"},
	{"GET", "/c/sources", "", 200, ""},
	{"PATCH", "/c/sources/hook", `{"properties": {"state": "disabled"}}`, 200, ""},
	{"DELETE", "/c/sources/hook", "", 200, ""},
	{"DELETE", "/c/sources/hook", "", 404, ""},
	{"PUT", "/c/jobs/on-events", contractOnEvents, 201, ""},
	{"POST", "/c/jobs/on-events/try-event", `{"data": {"total": 7}}`, 200, ""},
	{"POST", "/c/jobs/on-events/replay", `{"sequence": 999}`, 404, ""},
	{"POST", "/c/jobs/job/replay", `{"sequence": 1}`, 409, ""},
	{"POST", "/c/jobs/job/try-event", `{"event": "orders"}`, 409, ""},
	{"DELETE", "/c/jobs/on-events", "", 200, ""},
	{"GET", "/c/jobs/job/history", "", 200, ""},
	{"GET", "/c/jobs/job/audit", "", 200, ""},
	{"GET", "/c/jobs/job/why", "", 200, ""},
	{"GET", "/c/jobs/job/account?from=-1h", "", 200, ""},
	{"GET", "/c/jobs/job/runs.ics", "", 200, ""},
	{"GET", "/c/jobs/job/runs.ics", "", 304, "If-None-Match: *"},
	{"GET", "/c/runs.ics", "", 200, ""},
	{"GET", "/c/runs.ics", "", 304, "If-None-Match: *"},
	{"DELETE", "/c?onlyEmpty=true", "", 409, ""},
	{"PATCH", "/c", `{"properties": {"sku": {"name": "Free"}, "quota": {"maxJobCount": 1}}}`, 409, ""}, // it has two
	{"PUT", "/c", `{"properties": {"sku": {"name": "Free"}, "quota": {"maxJobCount": 1}}}`, 409, ""},
	{"PATCH", "/c", `{"properties": {"quota": {"maxRecurrence": {"frequency": "day", "interval": 1}}}}`, 200, ""},
	{"PATCH", "/c/jobs/job", `{"properties": {"recurrence": {"frequency": "minute", "interval": 1}}}`, 409, ""},
	{"PUT", "/c/jobs/job", strings.Replace(contractJob, "month", "minute", 1), 409, ""},
}

// ownExchanges are those of the short paths alone, and of the resource manager's own.
var ownExchanges = []exchange{
	{"PUT", "/jobCollections/default/jobs/job", contractJob, 201, ""},
	{"GET", "/jobs", "", 200, ""},
	{"GET", "/history", "", 200, ""},
	{"GET", "/audit", "", 200, ""},
	{"GET", "/events", "", 200, ""},
	{"PUT", "/jobCollections/default/sources/hook", contractSource, 201, ""},
	{"GET", "/sources", "", 200, ""},
	{"POST", "/events/default/hook", "{}", 202, ""},
	{"POST", "/events/default/hook", "{}", 429, ""},
	{"POST", "/events/default/absent", "{}", 404, ""},
	{"POST", "/events/default/hook", "{}", 403, "Sec-Fetch-Site: cross-site"},
	{"POST", "/events/default/hook", strings.Repeat(" ", 65537), 413, ""},
	{"PUT", "/jobCollections/default/sources/signed", `{"type": "webhook", "webhook": {"verify": {"type": "github", "secret": "s"}}}`, 201, ""},
	{"POST", "/events/default/signed", "{}", 401, ""},
	{"PUT", "/jobCollections/default/sources/signed", `{"type": "webhook", "webhook": {"verify": {"type": "none"}, "rateLimit": {"requests": 1000}}}`, 200, ""},
	{"POST", "/events/default/signed", "{}", 400, "Content-Type: application/cloudevents+json"},
	{"GET", "/events/default/hook?challenge=echo", "", 200, ""},
	{"GET", "/events/default/hook", "", 404, ""},
	{"GET", "/events/1", "", 200, ""},
	{"GET", "/events/999", "", 404, ""},
	{"GET", "/graph", "", 200, ""},
	{"GET", "/graph?collection=absent", "", 404, ""},
	{"GET", "/forecast?hours=1000", "", 400, ""},
	{"GET", "/forecast", "", 200, ""},
	{"GET", "/forecast?collection=absent", "", 404, ""},
	{"GET", "/forecast?collection=%7D", "", 400, ""},
	{"GET", "/jobCollections/%7D/sources", "", 400, ""},
	{"POST", "/operations", `{"verb": "disable", "all": true, "dryRun": true}`, 200, ""},
	{"POST", "/operations", `{"verb": "disable", "jobs": ["default/job"]}`, 201, ""},
	{"POST", "/operations", `{"verb": "disable"}`, 400, ""},
	{"GET", "/operations", "", 200, ""},
	{"GET", "/operations/ABC", "", 404, ""},
	{"POST", "/operations/ABC/cancel", "", 404, ""},
	{"GET", "/activity", "", 200, ""},
	{"GET", "/failures", "", 200, ""},
	{"GET", "/failures/ABC", "", 404, ""},
	{"POST", "/failures/ABC/ack", "", 404, ""},
	{"POST", "/failures/ABC/mute", `{"until": "2h"}`, 404, ""},
	{"POST", "/failures/ABC/reopen", "", 404, ""},
	{"GET", "/runs.ics", "", 200, ""},
	{"GET", "/runs.ics", "", 304, "If-None-Match: *"},
	{"POST", "/preview", contractJob, 200, ""},
	{"PUT", "/secrets/key", `{"value": "x"}`, 201, ""},
	{"PUT", "/secrets/key", `{"value": "y"}`, 200, ""},
	{"GET", "/secrets", "", 200, ""},
	{"PUT", "/jobCollections/default/jobs/secret", strings.Replace(withPassword, `"`+secret+`"`, `{"secretRef": "key"}`, 1), 201, ""},
	{"DELETE", "/secrets/key", "", 409, ""},
	{"DELETE", "/secrets/key?force=true", "", 200, ""},
	{"POST", "/secrets/rotate", "", 200, ""},
	{"POST", "/tokens", `{"name": "a", "grants": [{"role": "reader", "collections": ["default"]}]}`, 201, ""},
	{"GET", "/tokens", "", 200, ""},
	{"POST", "/doctor", "", 200, ""},
	{"GET", "/healthz", "", 200, ""},
	{"GET", "/readyz", "", 200, ""},
	{"GET", "/metrics", "", 200, ""},
	{"GET", "/openapi.json", "", 200, ""},
	{"GET", "/openapi.json", "", 304, "If-None-Match: *"},
	{"GET", "/openapi.json", "", 412, `If-Match: "other"`},
	{"GET", "/schemas/job.json", "", 200, ""},
	{"GET", "/schemas/job.json", "", 304, "If-None-Match: *"},
	{"GET", "/schemas/collection.json", "", 200, ""},
	{"GET", "/schemas/collection.json", "", 304, "If-None-Match: *"},
	{"GET", "/nowhere", "", 404, ""},
	{"PUT", "/healthz", "", 405, ""},
	{"POST", "/preview", "{}", 403, "Sec-Fetch-Site: cross-site"},
	{"GET", "/subscriptions?api-version=2016-06-01", "", 200, ""},
	{"GET", "/subscriptions/s?api-version=2016-06-01", "", 200, ""},
	{"GET", "/subscriptions/s/resourceGroups?api-version=2016-06-01", "", 200, ""},
	{"GET", "/subscriptions?api-version=x", "", 400, ""},
	{"GET", "/subscriptions/s/resourceGroups/g?api-version=2016-06-01", "", 200, ""},
	{"PUT", "/subscriptions/s/resourceGroups/new?api-version=2016-06-01", `{"location": "West Europe"}`, 201, ""},
	{"PUT", "/subscriptions/s/resourceGroups/g?api-version=2016-06-01", "", 200, ""},
	{"DELETE", "/subscriptions/s/resourceGroups/new?api-version=2016-06-01", "", 200, ""},
	{"DELETE", "/subscriptions/s/resourceGroups/g?api-version=2016-06-01", "", 409, ""},
	{"GET", "/subscriptions/s/providers?api-version=2016-06-01", "", 200, ""},
	{"GET", "/subscriptions/s/providers/Microsoft.Scheduler?api-version=2016-06-01", "", 200, ""},
	{"POST", "/subscriptions/s/providers/Microsoft.Scheduler/register?api-version=2016-06-01", "", 200, ""},
	{"GET", "/subscriptions/s/providers/Microsoft.Scheduler/jobCollections?api-version=2016-03-01", "", 200, ""},
	{"POST", "/api/v2/schedules/preview/", contractAWX, 200, ""},
	{"POST", "/api/v2/schedules/preview/", "{}", 400, ""},
	{"GET", "/api/v2/schedules/zoneinfo/", "", 200, ""},
	{"POST", "/api/v2/schedules/", "{}", 400, ""},
	{"GET", "/api/v2/schedules/?nonsense=1", "", 400, ""},
	{"GET", "/api/v2/schedules/?page=99", "", 404, ""},
	{"POST", "/api/v2/job_templates/default.job/schedules/", strings.Replace(contractAWX, "daily", "other", 1), 201, ""},
	{"POST", "/api/v2/job_templates/default.job/schedules/", "{}", 400, ""},
	{"PATCH", "/jobCollections/default", `{"properties": {"quota": {"maxJobCount": 1}}}`, 200, ""},
	{"POST", "/api/v2/schedules/", contractAWX, 409, ""},
	{"POST", "/api/v2/job_templates/default.job/schedules/", contractAWX, 409, ""},
	{"PATCH", "/jobCollections/default", `{"properties": {"quota": null}}`, 200, ""},
	{"GET", "/api/v2/job_templates/default.job/schedules/", "", 200, ""},
	{"GET", "/api/v2/job_templates/default.job/schedules/?nonsense=1", "", 400, ""},
}

// azurePath is a resource group of the test.
const azurePath = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Scheduler"

// versioned adds the version of Azure's API to a path.
func versioned(path string) string {
	if strings.Contains(path, "?") {
		return path + "&api-version=2016-03-01"
	}
	return path + "?api-version=2016-03-01"
}

func (w *harness) exchange(all []exchange, target string, as func(path string) string) {
	w.t.Helper()
	for _, e := range all {
		body := strings.ReplaceAll(e.body, "http://target.example", target)
		r := w.do(e.method, as(e.path), body, slices.DeleteFunc([]string{e.header}, func(h string) bool { return h == "" })...)
		if r.status != e.status {
			w.t.Errorf("%s %s %s: %d, want %d: %.300s", e.method, as(e.path), e.header, r.status, e.status, r.body)
		}
	}
}

// succeed asks for all that goes well, and for what the state of things does not allow.
func (w *harness) succeed() {
	short := func(path string) string { return "/jobCollections" + path }
	azure := func(path string) string { return versioned(azurePath + short(path)) }
	target := w.target()
	w.exchange(resourceExchanges, target, short)
	w.exchange(resourceExchanges, target, azure)
	w.exchange(ownExchanges, target, func(path string) string { return path })
	w.awxContract()
	token := regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(w.do("GET", "/tokens", "").body)
	w.exchange([]exchange{{"DELETE", "/tokens/" + token[1], "", 200, ""}}, target, func(path string) string { return path })
	id := regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(w.do("GET", "/operations", "").body)[1]
	w.exchange([]exchange{
		{"GET", "/operations/" + id, "", 200, ""}, {"POST", "/operations/" + id + "/cancel", "", 200, ""},
	}, target, func(path string) string { return path })
	group := "/failures/" + regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(w.do("GET", "/failures", "").body)[1]
	w.exchange([]exchange{
		{"GET", group, "", 200, ""},
		{"POST", group + "/ack", `{"note": "x"}`, 200, ""},
		{"POST", group + "/mute", `{"until": "2h"}`, 200, ""},
		{"POST", group + "/reopen", "", 200, ""},
	}, target, func(path string) string { return path })
	w.tails()
	w.work()
	for i, as := range []func(string) string{short, azure} {
		ran := regexp.MustCompile(`"occurrence":"([^"]+)"`)
		var found []string
		w.await("a record", func() bool {
			found = ran.FindStringSubmatch(w.do("GET", as("/c/jobs/job/history"), "").body)
			return found != nil
		})
		again := func(force bool) string { return fmt.Sprintf(`{"occurrence": %q, "force": %t}`, found[1], force) }
		w.await("the end of it", func() bool {
			return w.do("POST", as("/c/jobs/job/resubmit"), again(true)).status != http.StatusConflict
		})
		w.exchange([]exchange{
			{"POST", "/c/jobs/job/resubmit", again(false), 409, ""},
			{"PUT", "/c/jobs/once", contractOnce, 201, ""},
			{"PUT", "/c/jobs/on-events", contractOnEvents, 201, ""},
			{"POST", "/c/jobs/on-events/replay", fmt.Sprintf(`{"sequence": %d}`, i+1), 200, ""},
		}, target, as)
		w.await("the end of the other job", func() bool { return strings.Contains(w.do("GET", as("/c/jobs/once"), "").body, `"state":"completed"`) })
		w.exchange([]exchange{
			{"POST", "/c/jobs/once/enable", "", 409, ""}, {"POST", "/c/jobs/once/disable", "", 409, ""}, {"POST", "/c/jobs/once/pause", `{"until": "2h"}`, 409, ""}, {"DELETE", "/c/jobs/job", "", 200, ""}, {"DELETE", "/c", "", 200, ""},
		}, target, as)
	}
}

// awxContract does all with a schedule of AWX.
func (w *harness) awxContract() {
	path := w.makeSchedule(schedules, contractAWX).URL
	w.exchange([]exchange{
		{"GET", "", "", 200, ""},
		{"PUT", "", contractAWX, 200, ""},
		{"PATCH", "", `{"enabled": false}`, 200, ""},
		{"PUT", "", "{}", 400, ""},
		{"PATCH", "", `{"enabled": 5}`, 400, ""},
		{"DELETE", "?dryRun=true", "", 400, ""},
		{"DELETE", "", "", 204, ""},
	}, "", func(query string) string { return path + query })
	w.must("GET", "/api/v2/schedules/", "")
}

// tails begins every live tail, in each of its forms.
func (w *harness) tails() {
	for path, operations := range theAPI().Paths {
		op, ok := operations["get"]
		if !ok {
			continue
		}
		for media := range op.Responses["200"].Content {
			as := map[string]string{"application/x-ndjson": "?follow=true&after=0", "text/event-stream": "?follow=true&after=0&as=sse"}[media]
			if as == "" {
				continue
			}
			w.stream(filled(path, "c", "job") + as).end()
		}
	}
	w.await("the ends of the tails", func() bool { return w.serving.Load() == 0 })
}

// filled puts names into a path of the document.
func filled(path, collection, job string) string {
	return strings.NewReplacer("{c}", collection, "{j}", job, "{e}", job, "{n}", job, "{s}", "s", "{g}", "g", "{name}", job, "{id}", job, "{kind}", "job_templates", "{template}", collection+"."+job).Replace(path)
}

// each asks every operation for the answer of a status, if it has one.
func (w *harness) each(status int, ask func(method, path string, op promised) reply) {
	w.t.Helper()
	for path, operations := range theAPI().Paths {
		for method, op := range operations {
			if op.Responses[strconv.Itoa(status)] == nil || strings.HasSuffix(op.ID, "Webhook") {
				continue // ownExchanges has those of webhooks
			}
			if r := ask(strings.ToUpper(method), path, op); r.status != status && status != http.StatusNotFound && status != http.StatusBadRequest {
				w.t.Errorf("%s %s: %d, want %d: %.300s", method, path, r.status, status, r.body)
			}
		}
	}
}

// address is a path of the document with names and, where it needs one, a version.
func address(path string, op promised, collection, job string) string {
	path = filled(path, collection, job)
	if slices.ContainsFunc(op.Parameters, func(p promisedParameter) bool { return p.Name == "api-version" }) {
		return versioned(path)
	}
	return path
}

// beRefused asks as who may not, where the store does not answer, and under another name.
func (w *harness) beRefused() {
	plain := func(method, path string, op promised) reply { return w.do(method, address(path, op, "c", "job"), "") }
	identify := func(p *auth.Principal, err error) func(*rest.Config) {
		return func(c *rest.Config) {
			c.Identify = func(*http.Request) (*auth.Principal, error) { return p, err }
			c.Ready = func(context.Context) error { return err }
		}
	}
	for status, change := range map[int]func(*rest.Config){
		http.StatusMisdirectedRequest: func(c *rest.Config) { c.AllowHost = func(string) bool { return false } },
		http.StatusUnauthorized:       identify(nil, &auth.Unknown{}),
		http.StatusForbidden:          identify(&auth.Principal{Name: "nobody"}, nil),
		http.StatusServiceUnavailable: identify(nil, scheduler.ErrUnavailable),
		http.StatusInternalServerError: func(c *rest.Config) {
			c.Identify = func(*http.Request) (*auth.Principal, error) { return nil, errors.New("a defect") }
			c.Ready = func(context.Context) error { panic("a defect") }
		},
		http.StatusTooManyRequests: func(c *rest.Config) { c.Rate = throttle.New(1e-6, 1) },
	} {
		w.serve([]func(*rest.Config){change})
		if status == http.StatusTooManyRequests {
			w.must("GET", "/jobCollections", "") // the only one
		}
		if status == http.StatusMisdirectedRequest {
			w.exchange([]exchange{{"POST", "/events/default/signed", "{}", status, ""}}, "", func(path string) string { return path })
		}
		w.each(status, plain)
	}
	w.tooManyTails()
}

// tooManyTails begins one live tail more than a caller may, and than there may be.
func (w *harness) tooManyTails() {
	w.serve([]func(*rest.Config){func(c *rest.Config) { c.MaxTails = 1 }})
	_, end := w.follow("/history?follow=true")
	w.do("GET", "/history?follow=true", "")
	another := httptest.NewRequestWithContext(w.t.Context(), http.MethodGet, "/history?follow=true", http.NoBody) // from 192.0.2.1
	w.api.Config.Handler.ServeHTTP(httptest.NewRecorder(), another)
	end()
	w.await("its end", func() bool { return w.serving.Load() == 0 })
}

// beWrong asks for what is not there, and in ways that are not right.
func (w *harness) beWrong() {
	w.serve(nil)
	w.each(http.StatusNotFound, func(method, path string, op promised) reply {
		path = strings.Replace(path, "/schedules/{id}", "/schedules/2", 1)
		if op.ID == "putCollection" { // of a name that only a resource group gives
			path = "/jobCollections/c=gw7qo6tqy2k2aq2h"
		}
		return w.do(method, address(path, op, "absent", "absent"), bodyFor(op))
	})
	w.each(http.StatusBadRequest, func(method, path string, _ promised) reply {
		return w.do(method, filled(path, "c", "job")+"?nonsense=1", "")
	})
	for _, as := range []func(string) string{func(path string) string { return path }, func(path string) string { return versioned(azurePath + path) }} {
		w.must("PUT", as("/jobCollections/d"), "{}")
		w.must("PUT", as("/jobCollections/d/jobs/job"), contractJob)
		w.must("PUT", as("/jobCollections/d/sources/job"), contractSource)
	}
	id := w.makeSchedule(schedules, contractAWX).URL
	w.each(http.StatusRequestEntityTooLarge, func(method, path string, op promised) reply {
		path = strings.Replace(path, "/api/v2/schedules/{id}/", id, 1)
		return w.do(method, address(path, op, "d", "job"), strings.Repeat(" ", 1<<20+1))
	})
	w.each(http.StatusUnsupportedMediaType, func(method, path string, op promised) reply {
		path = strings.Replace(path, "/api/v2/schedules/{id}/", id, 1)
		return w.do(method, address(path, op, "d", "job"), "<job/>", "Content-Type: text/xml; charset=utf-8")
	})
	w.each(http.StatusPreconditionFailed, func(method, path string, op promised) reply {
		return w.do(method, address(path, op, "d", "job"), bodyFor(op), `If-Match: "other"`)
	})
}

// bodyFor is a document that an operation takes.
func bodyFor(op promised) string {
	switch {
	case op.Body == nil:
		return ""
	case strings.HasSuffix(strings.ToLower(op.ID), "resubmitjob"):
		return `{"occurrence": "2030-01-01T00:00:00Z"}`
	case strings.HasSuffix(strings.ToLower(op.ID), "pausejob"):
		return `{"until": "2h"}`
	case strings.HasPrefix(op.ID, "awx"):
		return contractAWX
	case strings.HasSuffix(op.ID, "putJob"), strings.HasSuffix(op.ID, "PutJob"), strings.HasSuffix(op.ID, "reateJob"):
		return contractJob
	}
	return "{}"
}

// TestFaultCodes finds every error code of the sources in the document, and none that the sources do not have.
func TestFaultCodes(t *testing.T) {
	inSources := map[string]bool{}
	for _, pattern := range []string{"*.go", "../api/v1/error.go"} {
		paths := must.Get(filepath.Glob(pattern))(t)
		for _, path := range paths {
			text := must.Get(os.ReadFile(path))(t)
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			for _, found := range regexp.MustCompile(`(?:http\.Status\w+|Error\{\d+), (?:Code: )?"(\w+)"`).FindAllStringSubmatch(strings.ReplaceAll(string(text), "\n", " "), -1) {
				inSources[found[1]] = true
			}
		}
	}
	inDocument := map[string]bool{}
	for _, f := range openapi.Faults {
		inDocument[f.Code] = true
	}
	if !maps.Equal(inSources, inDocument) {
		t.Errorf("sources %v, document %v", slices.Sorted(maps.Keys(inSources)), slices.Sorted(maps.Keys(inDocument)))
	}
}
