package natsmsg_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/actions/natsmsg"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/worker"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// inBubble runs f on fake time with a server that opens no sockets.
func inBubble(t *testing.T, f func(t *testing.T, nc *nats.Conn)) {
	t.Helper()
	defer storetest.DropTimers() // some tests have a server of their own
	storetest.Test(t, func(t *testing.T) { f(t, storetest.Connect(t, storetest.Server(t))) })
}

// Who does not answer is waited for as long as the job says.
func TestTimeout(t *testing.T) {
	inBubble(t, func(t *testing.T, nc *nats.Conn) {
		subscribe(t, nc, "slow")
		at := attempt()
		at.Timeout = 5 * time.Minute
		begin := time.Now()
		got := invoke(t, client(t, natsmsg.Config{Conn: nc}), at, `{"mode": "request", "subject": "slow"}`)
		check(t, got, outcome{0, true, false, "Request to subject 'slow' failed: timed out after 300s"})
		if d := time.Since(begin); d != at.Timeout || got.Duration != d {
			t.Errorf("ended after %v, recorded as %v, want %v", d, got.Duration, at.Timeout)
		}
	})
}

// Whole jobs: what no subscriber takes is tried again by the retry policy,
// what no stream takes is not.
func TestJobs(t *testing.T) {
	inBubble(t, func(t *testing.T, nc *nats.Conn) {
		st, err := store.Open(t.Context(), nc, store.Config{Storage: jetstream.MemoryStorage})
		if err != nil {
			t.Fatal(err)
		}
		registry := client(t, natsmsg.Config{Conn: nc})
		jobs := service.New(service.Config{Store: st, Actions: registry})
		if err := jobs.EnsureDefault(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- worker.New(worker.Config{Store: st, Actions: registry}).Run(ctx) }()

		due := time.Now().Add(time.Minute).UTC()
		for name, message := range map[string]string{
			"asks": `{"mode": "request", "subject": "late", "message": "hello"}`, "stores": `{"mode": "jetstream", "subject": "nowhere"}`,
			"tells": `{"subject": "told", "message": "hello"}`,
		} {
			body := fmt.Sprintf(`{"startTime": %q, "action": {"type": "natsmessage", "natsMessage": %s,
				"errorAction": {"type": "natsMessage", "natsMessage": {"subject": "alarm.%s"}}}}`, due.Format(time.RFC3339), message, name)
			key := scheduler.Key{Collection: scheduler.DefaultCollection, Job: name}
			if _, _, err := jobs.Put(t.Context(), service.Edit{Key: key, Body: []byte(body)}); err != nil {
				t.Fatal(err)
			}
		}
		told, alarm := subscribe(t, nc, "told"), subscribe(t, nc, "alarm.*")
		time.Sleep(time.Until(due) + 20*time.Second)
		if _, err := nc.Subscribe("late", func(m *nats.Msg) { _ = m.Respond([]byte("at last")) }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		for name, want := range map[string]string{
			"asks": "failed 503 | completed 200", "stores": "failed 404 | completed 202 | faulted 404", "tells": "completed 202",
		} {
			if got := outcomes(t, st, name); got != want {
				t.Errorf("%s: history %q, want %q", name, got, want)
			}
		}
		if id := next(t, told).Header.Get("Nats-Msg-Id"); id != "default/tells@"+due.Format(time.RFC3339) {
			t.Errorf("Nats-Msg-Id %q", id)
		}
		if m := next(t, alarm); m.Subject != "alarm.stores" || m.Header.Get("x-carillon-failed-status") != "404" {
			t.Errorf("alarm on %s with headers %v", m.Subject, m.Header)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// outcomes returns a job's history in short, oldest first.
func outcomes(t *testing.T, st *store.Store, name string) string {
	t.Helper()
	var words []string
	key := scheduler.Key{Collection: scheduler.DefaultCollection, Job: name}
	err := st.Recent(t.Context(), key, 0, nil, func(r *scheduler.Record) bool {
		words = append([]string{fmt.Sprintf("%s %d", r.Outcome, r.Status)}, words...)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(words, " | ")
}
