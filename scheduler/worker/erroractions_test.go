package worker_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// to is an action that calls a host of its own, and is not retried; rest are more of its members.
func to(host, rest string) string {
	return `{"type": "Http", "request": {"uri": "http://` + host + `.example/", "method": "POST"}, "retryPolicy": {"retryType": "none"}` + rest + `}`
}

// composite is a one-shot with a list of errorActions, the first of which has one of its own.
var composite = `{"action": ` + to("main", `, "errorAction": [`+to("first", `, "errorAction": `+to("inner", ""))+`,`+to("second", "")+`]`) + `}`

// failingAt answers 500 at some hosts, and 200 at all others.
func failingAt(hosts string) func(*call) (int, string) {
	return func(c *call) (int, string) {
		if host, _, _ := strings.Cut(c.host, "."); strings.Contains(hosts, host) {
			return http.StatusInternalServerError, ""
		}
		return http.StatusOK, ""
	}
}

// told are the calls of a job without its name and time, in order: their hosts, and what follows the occurrence's id in their keys.
func (w *world) told() string {
	var all []string
	for _, c := range w.sink.seen() {
		host, _, _ := strings.Cut(c.host, ".")
		_, suffix, _ := strings.Cut(c.key, "Z")
		all = append(all, host+suffix)
	}
	return strings.Join(all, " ")
}

// TestCrashAtEveryErrorAction kills a worker at every step of an occurrence with several errorActions: each runs, and only
// one whose record was not stored runs again, under the same key.
func TestCrashAtEveryErrorAction(t *testing.T) {
	const attempts = 4
	for _, test := range []struct {
		point   string
		before  bool
		times   int32
		repeats int
	}{
		{"take", true, attempts, 0},
		{"record failed", true, attempts, 1},
		{"record failed", false, attempts, 0},
		{"pass on", true, attempts - 1, 0},
		{"pass on", false, attempts - 1, 0},
		{"record faulted", true, 1, 0},
		{"record faulted", false, 1, 0},
	} {
		for skip := range test.times {
			t.Run(fmt.Sprintf("%s, before %t, %d", test.point, test.before, skip), func(t *testing.T) {
				inWorld(t, func(t *testing.T, w *world) {
					m := w.startMortal(&mortal{point: test.point, before: test.before, skip: skip})
					w.sink.answers(func(*call) (int, string) { return http.StatusInternalServerError, "" })
					w.put("job", composite)
					m.awaitDeath(t)
					w.startWorker()
					time.Sleep(time.Minute)
					w.wantHistory("job", "failed failed/error failed/error failed/error faulted")
					var order []string
					for word := range strings.FieldsSeq(w.told()) {
						if len(order) == 0 || order[len(order)-1] != word {
							order = append(order, word)
						}
					}
					if diff := cmp.Diff([]string{"main", "first/error", "inner/error-2", "second/error-3"}, order); diff != "" {
						t.Error("called (-want +got)\n" + diff)
					}
					if got := len(w.sink.seen()) - len(order); got != test.repeats {
						t.Errorf("%d repeated calls, want %d", got, test.repeats)
					}
					w.mustBeInOrder()
				})
			})
		}
	}
}

// TestCompositeSecrets shows that the secrets of all errorActions are sealed, not shown, not lost by a put that leaves them out,
// and not sent elsewhere by a patch.
func TestCompositeSecrets(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.set("tenant", "north")
		withKey := func(host, key, rest string) string {
			return `{"type": "Http", "request": {"uri": "http://` + host + `.example/", "method": "POST", "headers": {"X-Api-Key": ` + key + `}}` + rest + `}`
		}
		const secret = `"` + planted + `"`
		body := func(first, inner, second string) string {
			return `{"startTime": "2099-01-01T00:00:00Z", "action": ` + withKey("main", secret, `, "errorAction": [`+
				withKey("first", first, `, "errorAction": `+withKey("inner", inner, ""))+`,`+withKey("second", second, "")+`]`) + `}`
		}
		all := body(secret, secret, secret)
		v := w.put("job", all)
		if raw := w.raw("job"); strings.Count(raw, "$sealed") != 4 || strings.Contains(raw, planted) {
			t.Errorf("stored as %s", raw)
		}
		if shown := string(view.JSON(v)); strings.Contains(shown, planted) {
			t.Errorf("shown as %s", shown)
		}
		const inner = `"X-Api-Key": "` + planted + `"}}}`
		for without, want := range map[string]string{
			strings.Replace(all, inner, `}}}`, 1):                                                             "action.errorAction[0].errorAction.request.headers.X-Api-Key",
			all[:strings.LastIndex(all, `"X-Api-Key"`)] + `}}}]}}`:                                            "action.errorAction[1].request.headers.X-Api-Key",
			strings.Replace(all, `"X-Api-Key": "`+planted+`"}}, "errorAction": {`, `}}, "errorAction": {`, 1): "action.errorAction[0].request.headers.X-Api-Key",
		} {
			_, _, err := w.service.Put(t.Context(), service.Edit{Key: key("job"), Body: []byte(without)})
			if got := problems(t, err); !strings.HasPrefix(got, want+": is a secret that the job has") || strings.Contains(got, "\n") {
				t.Errorf("%s: got %q, want %s", without, got, want)
			}
		}
		if _, err := w.patch("job", `{"action": {"request": {"uri": "http://evil.example/"}}}`); !strings.HasPrefix(problems(t, err), "action.request.headers.X-Api-Key: belongs to") {
			t.Errorf("a patch of the main action: %v", err)
		}
		if v := w.put("job", all); v.Job.Generation != 1 {
			t.Errorf("put again as it was: generation %d", v.Job.Generation)
		}
		w.put("job", body(`null`, `{"secretRef": "tenant"}`, `"new"`))
		single := `{"startTime": "2099-01-01T00:00:00Z", "action": ` + withKey("main", secret, `, "errorAction": `+withKey("first", secret, `, "errorAction": `+withKey("inner", secret, ""))) + `}`
		w.put("job", single)
		_, err := w.patch("job", `{"action": {"errorAction": {"errorAction": {"request": {"uri": "http://evil.example/"}}}}}`)
		if got := problems(t, err); !strings.HasPrefix(got, "action.errorAction.errorAction.request.headers.X-Api-Key: belongs to http://inner.example") {
			t.Errorf("a patch of the innermost: %q", got)
		}
		if _, err := w.patch("job", `{"action": {"errorAction": {"request": {"uri": "http://elsewhere.example/", "headers": {"X-Api-Key": "mine"}}}}}`); err != nil {
			t.Errorf("a patch that brings its own: %v", err)
		}
	})
}
