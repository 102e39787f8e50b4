package engine_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/store/storetest"
)

// admin is a context of somebody who may do everything.
func admin(t *testing.T) context.Context {
	t.Helper()
	return auth.With(t.Context(), auth.Anonymous(auth.ViaLoopback, "127.0.0.1"))
}

// operate creates an operation.
func (w *harness) operate(ctx context.Context, body string) *v1.Operation {
	w.t.Helper()
	return must.Get(w.service.CreateOperation(ctx, "", []byte(body)))(w.t)
}

// endOf waits for the end of an operation, and returns it.
func (w *harness) endOf(op *v1.Operation) *v1.Operation {
	w.t.Helper()
	for range 6000 {
		now := must.Get(w.service.Operation(admin(w.t), op.ID))(w.t)
		if now.HasEnded() {
			return now
		}
		time.Sleep(100 * time.Millisecond)
	}
	w.t.Fatalf("operation %s does not end", op.ID)
	return nil
}

// mustCount checks that an operation is complete, and how often it had each result.
func mustCount(t *testing.T, op *v1.Operation, want map[string]int) {
	t.Helper()
	if op.State != v1.Completed || fmt.Sprint(op.Counts) != fmt.Sprint(want) {
		t.Errorf("operation %s is %s with %v and %v, want %s with %v", op.Verb, op.State, op.Counts, op.Failures, v1.Completed, want)
	}
}

// TestOperationHasTheRightsOfItsCaller disables the jobs of two collections for somebody who may do so in one.
func TestOperationHasTheRightsOfItsCaller(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		defer w.follow()()
		w.must(w.service.PutCollection(w.t.Context(), "other", nil))
		w.put("a", hourlyJob)
		w.put("b", hourlyJob)
		k := scheduler.Key{Collection: "other", Job: "theirs"}
		w.must(w.service.Put(w.t.Context(), control.Edit{Key: k, Body: []byte(hourlyJob)}))
		w.must(w.service.Disable(t.Context(), key("b")))
		me := auth.With(t.Context(), &auth.Principal{Via: auth.ViaToken, ID: "1", Name: "me", Grants: []auth.Grant{
			{Role: auth.Operator, Collections: []string{"default"}}, {Role: auth.Reader},
		}})
		op := w.endOf(w.operate(me, `{"verb": "disable", "jobs": ["default/a", "default/b", "default/nowhere", "other/theirs"]}`))
		mustCount(t, op, map[string]int{"changed": 1, "unchanged": 1, "missing": 1, "failed": 1})
		if op.Done != 4 || len(op.Failures) != 1 || op.Failures[0].Job != k.String() || !strings.Contains(op.Failures[0].Message, "operator") {
			t.Errorf("%d done, failures %+v", op.Done, op.Failures)
		}
		op = w.endOf(w.operate(me, `{"verb": "enable", "all": true}`))
		mustCount(t, op, map[string]int{"changed": 2, "failed": 1})
		for _, body := range []string{
			`{"verb": "delete"}`, `{"verb": "pause", "all": true}`, `{"verb": "enable", "all": true, "until": "1h"}`,
			`{"verb": "resubmit", "all": true}`, `{"verb": "enable", "jobs": ["a"]}`, `{"verb": "explode", "all": true}`,
			`{"verb": "enable", "all": true, "ratePerSecond": 0}`,
		} {
			if _, err := w.service.CreateOperation(me, "", []byte(body)); !errors.Is(err, scheduler.ErrInvalid) {
				t.Errorf("%s: %v", body, err)
			}
		}
		if _, err := w.service.CreateOperation(me, "", []byte(`{"verb": "enable", "collection": "other"}`)); err == nil {
			t.Error("an operation on a collection in which its caller may do nothing")
		}
		stranger := auth.With(t.Context(), &auth.Principal{Via: auth.ViaToken, ID: "2", Name: "you", Grants: []auth.Grant{
			{Role: auth.Operator, Collections: []string{"other"}},
		}})
		if _, err := w.service.CancelOperation(stranger, op.ID); !errors.Is(err, scheduler.ErrNotFound) {
			t.Errorf("somebody else cancels it: %v", err)
		}
	})
}

// TestOperationOnNoJob deletes the jobs of an empty list: none, in place of all.
func TestOperationOnNoJob(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("a", hourlyJob)
		defer w.follow()()
		mustCount(t, w.endOf(w.operate(admin(t), `{"verb": "delete", "jobs": []}`)), nil)
		w.get("a")
	})
}

// TestResumeOfNamedJobs ends the pauses of named jobs: one that somebody disables stays disabled, also if that happens after
// the operation was created.
func TestResumeOfNamedJobs(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		for _, name := range []string{"a", "b", "off", "late", "other"} {
			w.put(name, hourlyJob)
			w.must(w.service.Pause(t.Context(), key(name), "2h"))
		}
		w.must(w.service.Disable(t.Context(), key("off")))
		me := auth.With(t.Context(), &auth.Principal{Via: auth.ViaToken, ID: "1", Name: "me", Grants: []auth.Grant{
			{Role: auth.Operator, Collections: []string{"default"}},
		}})
		op := w.operate(me, `{"verb": "enable", "$filter": "state eq paused",
			"jobs": ["default/off", "default/b", "default/late", "default/nowhere", "default/a", "hidden/job"]}`)
		if names := []string{"default/b", "default/late", "default/a"}; op.Expected != 3 || !slices.Equal(op.Jobs, names) {
			t.Errorf("selects %v", op.Jobs)
		}
		w.must(w.service.Disable(t.Context(), key("late")))
		none := w.operate(me, `{"verb": "enable", "jobs": ["default/off"], "$filter": "state eq paused"}`)
		defer w.follow()()
		mustCount(t, w.endOf(op), map[string]int{"changed": 2})
		mustCount(t, w.endOf(none), nil)
		paused := func(name string) bool { return !w.get(name).Job.PausedUntil.IsZero() }
		for _, name := range []string{"off", "late"} {
			if w.get(name).Job.State != scheduler.Disabled {
				t.Errorf("%s is enabled", name)
			}
		}
		if paused("a") || paused("b") || !paused("other") {
			t.Error("resuming did not resume the paused jobs that it names, and only these")
		}
	})
}

// TestOperationContinuesInAnotherProcess stops the process that pauses jobs midway: another one continues. The pause ends when
// it was to end by the time of the request, and a job of the same search that was added later is left alone.
func TestOperationContinuesInAnotherProcess(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.putMany(40, "j%02d", hourlyJob)
		stop := w.follow()
		asked := w.store.Now()
		op := w.operate(admin(t), `{"verb": "pause", "all": true, "until": "2h", "ratePerSecond": 5}`)
		time.Sleep(3 * time.Second)
		w.put("j99", hourlyJob)
		stop()
		other := control.New(control.Config{Store: w.store, Actions: w.actions()})
		time.Sleep(time.Minute)
		now := must.Get(w.service.Operation(admin(t), op.ID))(t)
		if now.Done == 0 || now.Done >= 40 || now.State != v1.Running {
			t.Fatalf("%d of 40 done, %s", now.Done, now.State)
		}
		defer storetest.Run(t, other.Run)()
		op = w.endOf(op)
		if op.State != v1.Completed || op.Done != 41 || op.Counts["changed"]+op.Counts["unchanged"] != 40 || op.Counts["missing"] != 1 {
			t.Errorf("%s: %d done, %v", op.State, op.Done, op.Counts)
		}
		if until := w.get("j39").Job.PausedUntil; until.Sub(asked) > 2*time.Hour+time.Second {
			t.Errorf("paused until %s, asked at %s", until, asked)
		}
		if !w.get("j99").Job.PausedUntil.IsZero() {
			t.Error("a job is paused that was added later")
		}
	})
}

// TestCanceledOperationStops cancels an operation: it stops between jobs, and keeps its counts.
func TestCanceledOperationStops(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.putMany(40, "j%02d", hourlyJob)
		defer w.follow()()
		op := w.operate(admin(t), `{"verb": "disable", "all": true, "ratePerSecond": 5}`)
		time.Sleep(3 * time.Second)
		w.must(w.service.CancelOperation(admin(t), op.ID))
		time.Sleep(10 * time.Second)
		op = w.endOf(op)
		disabled := 0
		for i := range 40 {
			if w.get(fmt.Sprintf("j%02d", i)).Job.State == scheduler.Disabled {
				disabled++
			}
		}
		if op.State != v1.Canceled || op.Done != disabled || disabled < 10 || disabled > 20 {
			t.Errorf("%s: %d done, %d disabled", op.State, op.Done, disabled)
		}
	})
}

// unretried is a job that is not retried.
var unretried = `{"action": ` + to("target", "") + `, "recurrence": {"frequency": "Minute"}}`

// TestResubmitWhatFailed runs the occurrences of an outage again, each once: not those of another target or another time, and
// none that was run again since.
func TestResubmitWhatFailed(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		defer w.follow()()
		var down atomic.Bool
		w.sink.answer = func(*call) (int, string) {
			if down.Load() {
				return http.StatusInternalServerError, "down"
			}
			return http.StatusOK, "ok"
		}
		w.put("a", unretried)
		w.put("b", unretried)
		w.put("c", unretried)
		time.Sleep(90 * time.Second)
		since := w.store.Now().UTC().Format(time.RFC3339Nano)
		down.Store(true)
		time.Sleep(3 * time.Minute)
		down.Store(false)
		until := w.store.Now().UTC().Format(time.RFC3339Nano)
		time.Sleep(20 * time.Second)
		w.must(w.service.Delete(t.Context(), key("c"), 0))
		w.put("c", unretried)

		dry := must.Get(w.service.CreateOperation(admin(t), "", []byte(`{"verb": "resubmit", "failedSince": "`+since+`", "dryRun": true}`)))(t)
		if dry.ID != "" || dry.Expected != 6 || len(dry.Failures) != 6 || dry.Failures[0].Occurrence == "" {
			t.Errorf("dry run: %+v", dry)
		}
		one := w.history("a")
		var failed *scheduler.Record
		for _, r := range one {
			if r.Outcome == scheduler.OutcomeFaulted {
				failed = r
			}
		}
		w.must(w.service.Resubmit(t.Context(), key("a"), []byte(`{"occurrence": "`+failed.Nominal.Format(time.RFC3339Nano)+`"}`)))
		time.Sleep(5 * time.Second)
		before := len(w.sink.seen())
		body := `{"verb": "resubmit", "failedSince": "` + since + `", "failedUntil": "` + until + `", "ratePerSecond": 1`
		none := w.endOf(w.operate(admin(t), body+`, "target": "elsewhere"}`))
		mustCount(t, none, nil)
		op := w.endOf(w.operate(admin(t), body+`}`))
		mustCount(t, op, map[string]int{"changed": 5})
		time.Sleep(5 * time.Second)
		if got := len(w.sink.seen()) - before; got < 5 {
			t.Errorf("%d calls", got)
		}
		mustCount(t, w.endOf(w.operate(admin(t), body+`}`)), nil)
		again := 0
		for _, name := range []string{"a", "b"} {
			for _, r := range w.history(name) {
				if r.Resubmits != nil {
					again++
				}
			}
		}
		if again != 6 {
			t.Errorf("%d resubmissions", again)
		}
	})
}

// TestResubmitPastBusyJob resubmits while a job runs for a minute: it holds up nothing but its own occurrences, whatever the
// rate is, and each occurrence takes few messages to the server.
func TestResubmitPastBusyJob(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		defer w.follow()()
		var down atomic.Bool
		var slow atomic.Bool
		w.sink.answer = func(c *call) (int, string) {
			if down.Load() {
				return http.StatusInternalServerError, "down"
			}
			if slow.Load() && strings.HasPrefix(c.host, "slow") {
				time.Sleep(time.Minute)
			}
			return http.StatusOK, "ok"
		}
		down.Store(true)
		hourly := strings.Replace(unretried, "Minute", "Hour", 1)
		w.put("slow", strings.Replace(hourly, "target", "slow", 1))
		const jobs = 30
		w.putMany(jobs, "j%02d", hourly)
		since := w.store.Now().UTC().Add(-time.Minute).Format(time.RFC3339Nano)
		time.Sleep(5 * time.Second)
		down.Store(false)
		slow.Store(true)
		w.must(w.service.Trigger(t.Context(), key("slow")))
		time.Sleep(time.Second)
		sent, began := w.nc.Stats().OutMsgs, time.Now()
		op := w.operate(admin(t), `{"verb": "resubmit", "failedSince": "`+since+`", "ratePerSecond": 20}`)
		for calls := len(w.sink.seen()); len(w.sink.seen()) < calls+jobs; time.Sleep(100 * time.Millisecond) {
			if time.Since(began) > 20*time.Second {
				t.Fatalf("%d of %d after %s", len(w.sink.seen())-calls, jobs, time.Since(began))
			}
		}
		if each := float64(w.nc.Stats().OutMsgs-sent) / jobs; each > 40 {
			t.Errorf("%.1f messages for each occurrence", each)
		}
		mustCount(t, w.endOf(op), map[string]int{"changed": jobs + 1})
		w.mustBeInOrder()
	})
}

// TestOperationAsksLittle pauses many jobs: each takes few messages to the server, as many jobs are read together.
func TestOperationAsksLittle(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		defer w.follow()()
		const jobs = 100
		w.putMany(jobs, "j%03d", hourlyJob)
		for _, body := range []string{`"pause", "until": "2h"`, `"enable"`, `"disable"`} {
			before := w.nc.Stats().OutMsgs
			op := w.endOf(w.operate(admin(t), `{"verb": `+body+`, "all": true}`))
			mustCount(t, op, map[string]int{"changed": jobs})
			if sent := float64(w.nc.Stats().OutMsgs-before) / jobs; sent > 8 {
				t.Errorf("%s: %.1f messages for each job", op.Verb, sent)
			}
		}
		w.mustBeInOrder()
	})
}

// TestDisableManyWithTheirRetries disables jobs that wait for a retry, run, or do neither: the operation says how many occurrences
// continue, or cancels them.
func TestDisableManyWithTheirRetries(t *testing.T) {
	for _, stop := range []bool{false, true} {
		inBubble(t, func(t *testing.T, w *harness) {
			defer w.follow()()
			w.sink.answers(failingAt("main"))
			failing := `{"action": ` + retried("main", `"retryCount": 1, "retryInterval": "PT10M"`) + `}`
			w.put("a", failing)
			w.put("b", failing)
			w.put("c", hourlyJob)
			w.must(w.service.Pause(t.Context(), key("c"), "2h"))
			time.Sleep(2 * time.Second)
			op := w.endOf(w.operate(admin(t), fmt.Sprintf(`{"verb": "disable", "all": true, "stopRetries": %t}`, stop)))
			mustCount(t, op, map[string]int{"changed": 3})
			time.Sleep(2 * time.Second)
			want := "failed"
			if stop {
				want = "failed faulted"
			}
			if got := w.outcomes("a"); op.Begun != 2 || got != want {
				t.Errorf("stop %t: %d had begun, history %q, want %q", stop, op.Begun, got, want)
			}
			if _, err := w.service.CreateOperation(admin(t), "", []byte(`{"verb": "enable", "all": true, "stopRetries": true}`)); err == nil {
				t.Error("enable takes stopRetries")
			}
		})
	}
}
