package worker_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// defaults puts the defaults of the default collection.
func (w *world) defaults(text string) error {
	_, _, err := w.service.PutCollection(w.t.Context(), scheduler.DefaultCollection, []byte(`{"properties": {"defaults": `+text+`}}`))
	time.Sleep(time.Second)
	return err
}

// mustCall fails the test unless the last calls were to these hosts.
func (w *world) mustCall(want string) {
	w.t.Helper()
	var hosts []string
	for _, c := range w.sink.seen() {
		host, _, _ := strings.Cut(c.host, ".")
		hosts = append(hosts, host)
	}
	if got := strings.Join(hosts, " "); !strings.HasSuffix(got, want) {
		w.t.Errorf("called %q, want %q at the end", got, want)
	}
}

// TestCollectionDefaults: jobs inherit what they do not set, views and selectors show it, an occurrence that has begun keeps
// the defaults that it began with, and the definition stays as it was put.
func TestCollectionDefaults(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(failingAt("main"))
		action := func(host string) string {
			return `{"type": "Http", "request": {"uri": "http://` + host + `.example/", "method": "POST"}`
		}
		w.put("job", `{"recurrence": {"frequency": "day"}, "labels": {"team": "own"}, "action": `+action("main")+`}}`)
		w.put("other", `{"recurrence": {"frequency": "day"}, "timeout": "PT9S", "action": `+action("fine")+`, "retryPolicy": {"retryType": "none"}, "errorAction": `+action("own")+`}}}`)
		time.Sleep(time.Hour) // the first occurrences end without any defaults
		w.mustCall("main main main main")
		revision := w.get("job").Job.Revision
		if err := w.defaults(`{"timeout": "PT7S", "labels": {"team": "all", "tier": "1"},
			"retryPolicy": {"retryType": "fixed", "retryInterval": "PT1M", "retryCount": 1}, "errorAction": ` + action("alert") + `}}`); err != nil {
			t.Fatal(err)
		}
		v := w.get("job")
		const want = `"inherited":{"timeout":"PT7S","labels":{"tier":"1"},"retryPolicy":{"retryType":"fixed","retryInterval":"PT1M","retryCount":1},"errorAction":{`
		if shown := string(view.JSON(v)); !strings.Contains(shown, want) || v.Job.Revision != revision || strings.Contains(string(v.Job.Def.Properties()), "alert") {
			t.Errorf("shown as %s, want %s", shown, want)
		}
		if shown := string(view.JSON(w.get("other"))); !strings.Contains(shown, `"inherited":{"labels":{"team":"all","tier":"1"}}`) || w.get("other").Job.Def.Timeout != 9*time.Second {
			t.Errorf("the job with settings of its own is shown as %s", shown)
		}
		for selector, want := range map[string]int{"tier=1": 2, "team=all": 1, "team=own": 1, "tier!=1": 0} {
			s, err := scheduler.ParseSelector(selector)
			w.must(nil, err)
			found, _, err := w.service.Search(t.Context(), scheduler.JobQuery{Labels: s}, view.Page{})
			if err != nil || len(found) != want {
				t.Errorf("%s finds %d jobs, %v; want %d", selector, len(found), err, want)
			}
		}
		run := func() {
			t.Helper()
			w.must(w.service.Trigger(t.Context(), key("job")))
			time.Sleep(time.Second)
		}
		run()
		time.Sleep(3 * time.Minute)
		w.mustCall("main main alert")
		run()
		w.must(nil, w.defaults(`{"errorAction": `+action("later")+`}, "retryPolicy": {"retryType": "none"}}`))
		time.Sleep(3 * time.Minute)
		w.mustCall("main main alert") // it began with the earlier ones
		run()
		time.Sleep(3 * time.Minute)
		w.mustCall("alert main later")
		// The default retry policy is that of the main action. The errorAction of a job has its own, of 4 retries if it names none.
		w.put("third", `{"startTime": "2001-01-01T00:00:00Z", "action": `+action("main")+`, "errorAction": `+action("main")+`}}}`)
		w.must(w.service.Trigger(t.Context(), key("third")))
		time.Sleep(time.Hour)
		w.mustCall("later main main main main main main")
	})
}

// TestCollectionDefaultsRefused: what is wrong with defaults is refused with its path, secrets included, and a shared secret
// that they refer to is in use.
func TestCollectionDefaultsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(func(*call) (int, string) { return http.StatusOK, "" })
		const hook = `"request": {"uri": "http://alert.example/", "method": "POST", "authentication": {"type": "Basic", "username": "u", "password": `
		for text, want := range map[string]string{
			`1`:                                   "properties.defaults: must be an object",
			`{"timeout": "PT9H"}`:                 "properties.defaults.timeout: ",
			`{"jitter": "PT1S"}`:                  "properties.defaults.jitter: unknown field",
			`{"labels": {"": "a"}}`:               "properties.defaults.labels: ",
			`{"retryPolicy": {"retryCount": 99}}`: "properties.defaults.retryPolicy.retryCount: ",
			`{"errorAction": {"type": "None"}}`:   "properties.defaults.errorAction.type: ",
			`{"errorAction": {"type": "Http", ` + hook + `"plain"}}}}`:           "properties.defaults.errorAction: must not contain a secret",
			`{"errorAction": [{"type": "Http", "request": {"method": "POST"}}]}`: "properties.defaults.errorAction[0].request.uri: ",
		} {
			if err := w.defaults(text); !errors.Is(err, scheduler.ErrInvalid) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", text, err, want)
			}
		}
		if _, _, err := w.service.PutSecret(t.Context(), "slack", []byte(`{"value": "hidden"}`)); err != nil {
			t.Fatal(err)
		}
		w.must(nil, w.defaults(`{"errorAction": {"type": "Http", `+hook+`{"secretRef": "slack"}}}}}`))
		if err := w.service.DeleteSecret(t.Context(), "slack", false); !errors.Is(err, scheduler.ErrConflict) {
			t.Errorf("a secret that defaults refer to is deleted: %v", err)
		}
	})
}
