package worker_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestRunning has three attempts, which begin one after the other and end in another order.
func TestRunning(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		answers := map[string]chan struct{}{}
		for _, name := range []string{"a", "b", "c"} {
			answers[name] = make(chan struct{})
		}
		w.sink.answers(func(c *call) (int, string) {
			<-answers[c.key[len("default/"):len("default/")+1]]
			return http.StatusOK, ""
		})
		want := func(when string, names ...string) {
			t.Helper()
			var got []string
			for _, a := range w.worker.Running(9) {
				got = append(got, a.Job.Job)
			}
			if diff := cmp.Diff(names, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", when, diff)
			}
		}
		want("at first")
		for _, name := range []string{"a", "b", "c"} {
			w.put(name, `{`+action+`, "timeout": "PT10M"}`)
			time.Sleep(time.Second)
		}
		want("all run", "a", "b", "c")
		if got := w.worker.Running(1); len(got) != 1 || got[0].Job != (scheduler.Key{Collection: "default", Job: "a"}) ||
			got[0].Try != 1 || got[0].Target == "" || time.Since(got[0].Started).Round(time.Second) != 3*time.Second ||
			got[0].Nominal.IsZero() {
			t.Errorf("the oldest: %+v", got)
		}
		for _, step := range []struct {
			ends string
			left []string
		}{{"b", []string{"a", "c"}}, {"c", []string{"a"}}, {"a", nil}} {
			close(answers[step.ends])
			time.Sleep(time.Second)
			want(step.ends+" ended", step.left...)
		}
		if got := w.worker.Troubled(); got != nil {
			t.Errorf("targets: %+v", got)
		}
	})
}
