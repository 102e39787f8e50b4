package engine_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

func TestOverlapAllow(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(after(25*time.Second, http.StatusOK))
		start := time.Now()
		w.put("job", `{`+action+`, "overlap": "allow", "recurrence": {"frequency": "Second", "interval": 10, "count": 4}}`)
		time.Sleep(32 * time.Second)
		calls := w.sink.seen()
		if len(calls) != 4 {
			t.Fatalf("%d calls in 32 s, want 4", len(calls))
		}
		for i, c := range calls {
			if late := c.at.Sub(start.Add(time.Duration(i) * 10 * time.Second)); late < 0 || late > 100*time.Millisecond {
				t.Errorf("call %d is %v late", i, late)
			}
		}
		time.Sleep(time.Minute)
		w.wantHistory("job", "completed completed completed completed")
		w.wantState("job", scheduler.Completed, 4)
		w.mustBeInOrder()
	})
}

func TestRunDisabledJob(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("job", `{`+action+`, "state": "disabled", "recurrence": {"frequency": "Hour"}}`)
		w.must(w.service.Trigger(t.Context(), key("job")))
		time.Sleep(125 * time.Minute)
		w.wantHistory("job", "completed/manual")
		if v := w.get("job"); v.Job.State != scheduler.Disabled || v.Status.Executions != 1 || v.Status.Occurrences != 1 {
			t.Errorf("state %s, status %+v", v.Job.State, v.Status)
		}
	})
}

const failing = `"action": {"type": "Http", "request": {"uri": "http://target.example/fails", "method": "POST"},
	"retryPolicy": {"retryType": "fixed", "retryInterval": "PT10S", "retryCount": 2}`

// fails answers 500 to the main action and 200 to everything else.
func fails(c *call) (int, string) {
	if strings.HasSuffix(c.url, "/fails") {
		return http.StatusInternalServerError, ""
	}
	return http.StatusOK, ""
}

func TestRetryAndErrorAction(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(fails)
		w.put("job", `{`+failing+`, "errorAction": {"type": "Http", "request": {"uri": "http://target.example/alarm", "method": "POST"}}}}`)
		begin := time.Now()
		time.Sleep(time.Minute)
		if got, want := w.outcomes("job"), "failed failed failed completed/error faulted"; got != want {
			t.Fatalf("history %q, want %q", got, want)
		}
		calls := w.sink.seen()
		for i, want := range []time.Duration{0, 10 * time.Second, 20 * time.Second, 20 * time.Second} {
			if d := calls[i].at.Sub(begin); d < want || d > want+50*time.Millisecond {
				t.Errorf("call %d after %v, want %v", i, d, want)
			}
		}
		if calls[0].key != calls[2].key || calls[3].key == calls[0].key {
			t.Errorf("keys %q, %q, %q: the tries of one action share a key, the errorAction has its own",
				calls[0].key, calls[2].key, calls[3].key)
		}
		v := w.get("job")
		if v.Job.State != scheduler.Faulted || v.Status.Executions != 3 || v.Status.Failures != 3 || v.Status.Errors != 1 || v.Status.Faults != 1 {
			t.Errorf("state %s, status %+v", v.Job.State, v.Status)
		}
	})
}

func TestPanicIsAFailedAttempt(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(func(c *call) (int, string) {
			if c.n == 0 {
				panic("boom")
			}
			return http.StatusOK, ""
		})
		w.put("job", `{`+failing+`}}`)
		time.Sleep(time.Minute)
		w.wantHistory("job", "failed completed")
		if m := w.history("job")[0].Message; !strings.Contains(m, "boom") {
			t.Errorf("message %q does not name the panic", m)
		}
	})
}

// to is an action that calls a host of its own, and is not retried; rest are more of its members.
func to(host, rest string) string {
	return `{"type": "Http", "request": {"uri": "http://` + host + `.example/", "method": "POST"}, "retryPolicy": {"retryType": "none"}` + rest + `}`
}

// retried is an action that calls a host of its own, and is retried as the fields of policy say.
func retried(host, policy string) string {
	return `{"type": "Http", "request": {"uri": "http://` + host + `.example/", "method": "POST"}, "retryPolicy": {` + policy + `}}`
}

// failingAt answers 500 at some hosts, and 200 at all others.
func failingAt(hosts string) func(*call) (int, string) {
	return func(c *call) (int, string) {
		if host, _, _ := strings.Cut(c.host, "."); strings.Contains(hosts, host) {
			return http.StatusInternalServerError, ""
		}
		return http.StatusOK, ""
	}
}

// told are calls without the name of their job and its time, in order: their hosts, and what follows the occurrence's id in their keys.
func told(calls []*call) string {
	var all []string
	for _, c := range calls {
		host, _, _ := strings.Cut(c.host, ".")
		_, suffix, _ := strings.Cut(c.key, "Z")
		all = append(all, host+suffix)
	}
	return strings.Join(all, " ")
}

// ordering is an action that sends the order of its run, to a host.
func ordering(host, rest string) string {
	return `{"type": "Http", "request": {"uri": "http://` + host + `.example/", "method": "POST", "template": true,
		"body": "{{.Data.order}} for {{.Data.customer}}"}` + rest + `}`
}

// TestRunData gives data to runs: each attempt, the errorAction and a resubmission send them, over those of the job, every
// record has them, and the next planned run has none.
func TestRunData(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(failingAt("main"))
		w.put("job", `{"recurrence": {"frequency": "hour"}, "data": {"customer": "all"}, "action": `+ordering("main", `,
			"retryPolicy": {"retryType": "fixed", "retryInterval": "PT30S", "retryCount": 1}, "errorAction": `+ordering("error", ""))+`,
			"input": {"properties": {"order": {"type": "integer", "default": 0}}, "required": ["order"]}}`)
		time.Sleep(time.Minute)
		run := func(body string) (string, error) {
			return w.service.RunBy(t.Context(), key("job"), []byte(body), time.Time{})
		}
		for body, want := range map[string]string{
			"": "data: missing property 'order'", `{"data": {"order": "x"}}`: "data.order: got string, want integer",
			`{"data": 1}`: "data: must be an object", `{"date": {}}`: "date: ",
			`{"data": {"order": 1, "note": "` + strings.Repeat("x", scheduler.MaxRunData) + `"}}`: "at most 4096 are allowed",
		} {
			if _, err := run(body); !errors.Is(err, scheduler.ErrInvalid) || !strings.Contains(err.Error(), want) {
				t.Errorf("%.40s: %v, want %q", body, err, want)
			}
		}
		mustSend := func(want ...string) {
			t.Helper()
			time.Sleep(time.Minute)
			calls := w.sink.seen()
			for i, c := range calls[len(calls)-len(want):] {
				if c.body != want[i] {
					t.Errorf("call %d sent %q, want %q", i, c.body, want[i])
				}
			}
		}
		mustSend("0 for all", "0 for all", "0 for all")
		occurrence := must.Get(run(`{"data": {"order": 7}}`))(t)
		mustSend("7 for all", "7 for all", "7 for all")
		n := 0
		for _, r := range w.history("job") {
			shown := string(v1.JSON(v1.Record(r)))
			if of := r.Occurrence == occurrence; of != (string(r.Data) == `{"order":7}`) || of != strings.Contains(shown, `"data":{"order":7}`) {
				t.Errorf("record %s has the data %s", shown, r.Data)
			} else if of {
				n++
			}
		}
		if n != 4 {
			t.Errorf("%d records of the run, want two attempts, an errorAction and the end", n)
		}
		w.mustResubmit("job", occurrence)
		mustSend("7 for all", "7 for all", "7 for all")
		w.must(w.service.Disable(t.Context(), key("job")))
		must.Get(run(`{"data": {"order": 8, "customer": "b"}}`))(t)
		mustSend("8 for b", "8 for b", "8 for b")
	})
}

// TestRunDataUnknown: without a schema, a run gives only what a template uses.
func TestRunDataUnknown(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("job", `{"recurrence": {"frequency": "hour"}, "data": {"customer": "all", "order": 1}, "action": `+ordering("main", "")+`}`)
		time.Sleep(time.Minute)
		const want = "data.ordr: no template of the job uses it: correct the name, or declare it in the job's input"
		_, err := w.service.RunBy(t.Context(), key("job"), []byte(`{"data": {"ordr": 1}}`), time.Time{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		w.must(w.service.RunBy(t.Context(), key("job"), []byte(`{"data": {"order": 2}}`), time.Time{}))
	})
}

// TestLaterRunThatIsHardToFind has a job whose first run is found at once, and whose next one is behind thousands of times
// that are excluded one by one: it goes on.
func TestLaterRunThatIsHardToFind(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("job", `{`+action+`, "recurrence": {"rrule": "DTSTART:20000101T000000Z RRULE:FREQ=HOURLY;INTERVAL=86399;BYMONTH=1,6`+
			` RRULE:FREQ=HOURLY;INTERVAL=13;BYHOUR=1,2,3,4,5,6,7,8;BYMINUTE=0,13,26,39,52`+
			` EXRULE:FREQ=MINUTELY;INTERVAL=61;BYHOUR=1,2,3,4,5,6,7,8 EXRULE:FREQ=MINUTELY;INTERVAL=13;BYHOUR=1,2,3,4,5,6,7,8"}}`)
		time.Sleep(time.Minute)
		v := w.get("job")
		if got := len(w.sink.seen()); got != 1 || v.Job.State != scheduler.Enabled || v.Status.Next.Year() < 2020 {
			t.Errorf("%d calls; it is %s, and next due at %s", got, v.Job.State, v.Status.Next)
		}
		w.mustBeInOrder()
	})
}
