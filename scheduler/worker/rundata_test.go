package worker_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// ordering is an action that sends the order of its run, to a host.
func ordering(host, rest string) string {
	return `{"type": "Http", "request": {"uri": "http://` + host + `.example/", "method": "POST", "template": true,
		"body": "{{.Data.order}} for {{.Data.customer}}"}` + rest + `}`
}

// TestRunData gives data to runs: each attempt, the errorAction and a resubmission send them, over those of the job, every
// record has them, and the next planned run has none.
func TestRunData(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
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
		occurrence, err := run(`{"data": {"order": 7}}`)
		w.must(nil, err)
		mustSend("7 for all", "7 for all", "7 for all")
		n := 0
		for _, r := range w.history("job") {
			shown := string(view.JSON(view.Record(r)))
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
		if _, err := run(`{"data": {"order": 8, "customer": "b"}}`); err != nil {
			t.Fatal(err)
		}
		mustSend("8 for b", "8 for b", "8 for b")
	})
}

// TestRunDataUnknown: without a schema, a run gives only what a template uses.
func TestRunDataUnknown(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(func(*call) (int, string) { return http.StatusOK, "" })
		w.put("job", `{"recurrence": {"frequency": "hour"}, "data": {"customer": "all", "order": 1}, "action": `+ordering("main", "")+`}`)
		time.Sleep(time.Minute)
		run := func(ctx context.Context, body string) error {
			_, err := w.service.RunBy(ctx, key("job"), []byte(body), time.Time{})
			return err
		}
		const want = "data.ordr: no template of the job uses it: correct the name, or declare it in the job's input"
		if err := run(t.Context(), `{"data": {"ordr": 1}}`); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if err := run(t.Context(), `{"data": {"order": 2}}`); err != nil {
			t.Error(err)
		}
	})
}
