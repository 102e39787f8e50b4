package broker_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"
	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// golden has the bytes that a journal has after fill. Data of users has this format: it does not change.
const golden = "testdata/format1"

// fill has one of everything that is kept, part of it in a snapshot and part of it in the log after.
func fill(t *testing.T, b *broker.Broker) {
	t.Helper()
	must.Get(b.CreateQueue("q", broker.Options{
		DuplicateDetection: true, DeadLetterOnExpiration: true, LockDuration: 30 * time.Second, MaxDeliveryCount: 2,
		UserMetadata: "mine",
	}))(t)
	must.Get(b.CreateQueue("sessions", broker.Options{RequiresSession: true}))(t)
	must.Get(b.CreateQueue("forwards", broker.Options{ForwardTo: "q"}))(t)
	must.Get(b.CreateTopic("t", broker.Options{DefaultTTL: 24 * time.Hour}))(t)
	must.Get(b.CreateSubscription("t", "s", broker.Options{}, &broker.Rule{
		Name: "sql", Filter: must.Get(filter.ParseSQL("n > @n", amqp.Map{{Key: "@n", Value: int64(1)}}))(t),
		Action: must.Get(filter.ParseAction("SET n = n + 1", nil))(t),
	}))(t)
	must.Get(b.CreateQueue("gone", broker.Options{}))(t)
	send(t, b, "gone", ids(2)...)
	send(t, b, "q", ids(6)...)
	send(t, b, "q", spec{id: "annotated", delivery: amqp.Map{{Key: amqp.Symbol("x-opt-mine"), Value: "kept"}}})
	send(t, b, "q", spec{id: "expires", ttl: time.Second}, spec{id: "scheduled", at: time.Now().Add(time.Hour)})
	send(t, b, "sessions", spec{id: "a", session: "one"}, spec{id: "b", session: "two"})
	r := receive(t, b, "q", broker.ReceiverConfig{})
	r.SetCredit(3)
	r.settle(r.next(), broker.Outcome{})
	r.settle(r.next(), broker.Outcome{Kind: broker.Defer, Properties: amqp.Map{{Key: "k", Value: "v"}}})
	r.settle(r.next(), broker.Outcome{Kind: broker.MoveDeadLetter, Reason: "no", Description: "not at all"})
	setState(t, b, "one", "state")
	pass(2 * time.Second)
	must.Do(t, b.Snapshot())
	must.Do(t, b.Delete("gone"))
	correlation := must.Get(filter.NewCorrelation(filter.CorrelationFilter{
		Label: "x", Properties: amqp.Map{{Key: "p", Value: int32(1)}},
	}))(t)
	must.Get(b.CreateRule("t", "s", broker.Rule{Name: "correlation", Filter: correlation}))(t)
	send(t, b, "t", spec{id: "matches", properties: amqp.Map{{Key: "n", Value: int64(5)}}}, spec{id: "does not"})
	send(t, b, "forwards", spec{id: "forwarded"})
	send(t, b, "q", spec{id: "scheduled late", at: time.Now().Add(2 * time.Hour)}, spec{id: "1"}) // a duplicate
	r.SetCredit(3)
	r.settle(r.next(), broker.Outcome{Kind: broker.Abandon})
	r.settle(r.next(), broker.Outcome{Kind: broker.Defer})
	r.settle(r.next(), broker.Outcome{Kind: broker.MoveDeadLetter, Reason: "late"})
	r.Close()
	setState(t, b, "two", "other")
	must.Do(t, b.Flush())
}

// setState sets the state of a session.
func setState(t *testing.T, b *broker.Broker, id, state string) {
	t.Helper()
	session := must.Get(source(t, b, "sessions").Accept(id))(t)
	defer session.Close()
	must.Get(source(t, b, "sessions").SetSessionState(id, []byte(state)))(t)
}

// TestFormat holds the journal to its format: fill writes the golden bytes, and data with these is read as it was.
func TestFormat(t *testing.T) {
	durable(t, func(t *testing.T, b *broker.Broker, dir string) {
		fill(t, b)
		for _, name := range dataFiles(t, golden) {
			want, got := must.Get(os.ReadFile(filepath.Join(golden, name)))(t), must.Get(os.ReadFile(filepath.Join(dir, name)))(t)
			if !bytes.Equal(want, got) {
				t.Errorf("%s is written in other bytes", name)
			}
		}
		kept := t.TempDir()
		must.Do(t, os.CopyFS(kept, os.DirFS(golden)))
		old, stop := start(t, broker.Config{Dir: kept})
		defer stop()
		if diff := cmp.Diff(look(t, b), look(t, old), cmp.Comparer(bytes.Equal)); diff != "" {
			t.Errorf("the golden data (-want +got): %s", diff)
		}
		use(t, old)
	})
}

// use checks what is in the data of fill, and that all goes on from there.
func use(t *testing.T, b *broker.Broker) {
	t.Helper()
	wantIDs(t, peek(t, b, "q"), "2", "4", "5", "annotated", "scheduled", "forwarded", "scheduled late")
	wantIDs(t, peek(t, b, "q/$DeadLetterQueue"), "3", "6", "expires")
	wantIDs(t, peek(t, b, "t/Subscriptions/s"), "matches")
	wantReason(t, first(t, b, "q/$DeadLetterQueue"), "no")
	for id, want := range map[string]string{"one": "state", "two": "other"} {
		session := must.Get(source(t, b, "sessions").Accept(id))(t)
		if got := must.Get(source(t, b, "sessions").SessionState(id))(t); string(got) != want {
			t.Errorf("session %s has state %q", id, got)
		}
		session.Close()
	}
	deferred, _, err := source(t, b, "q").ReceiveDeferred([]int64{2, 5}, broker.PeekLock, nil)
	if err != nil || len(deferred) != 2 || parse(t, deferred[0]).ApplicationProperties().Get("k") != "v" {
		t.Errorf("%d deferred messages, %v", len(deferred), err)
	}
	send(t, b, "q", spec{id: "1"}, spec{id: "new"}) // the first is a duplicate still
	pass(3 * time.Hour)
	r := receive(t, b, "q", broker.ReceiverConfig{})
	r.SetCredit(10)
	wantIDs(t, r.all(), "4", "annotated", "forwarded", "new", "scheduled", "scheduled late")
	r.Close()
	synctest.Wait()
}

// dataFiles are the names of the files that a version left.
func dataFiles(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	for _, entry := range must.Get(os.ReadDir(dir))(t) {
		names = append(names, entry.Name())
	}
	if len(names) != 2 {
		t.Fatalf("the data has the files %v", names)
	}
	return names
}

// TestDamagedJournal flips a byte in each stretch of a journal, in the records and in those of a snapshot: the broker comes up,
// tells of it, and has all messages but those of that record, or of the queue that it defines. Nothing is wrong after the next
// snapshot.
func TestDamagedJournal(t *testing.T) {
	dir := t.TempDir()
	bubble.Test(t, func(t *testing.T) {
		b, stop := start(t, broker.Config{Dir: dir})
		for _, name := range []string{"one", "two"} {
			must.Get(b.CreateQueue(name, broker.Options{}))(t)
		}
		for range 10 {
			send(t, b, "one", ids(1)...)
			send(t, b, "two", ids(1)...)
		}
		stop()
	})
	files, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	whole := must.Get(os.ReadFile(files[0]))(t)
	head := len("carillon journal 1\n")
	for i := head; i < len(whole); i += len(whole) / 40 {
		damaged := append([]byte(nil), whole...)
		damaged[i] ^= 4
		dir := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(dir, filepath.Base(files[0])), damaged, 0o600))
		var log strings.Builder
		bubble.Test(t, func(t *testing.T) {
			_, stop := start(t, broker.Config{Dir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			synctest.Wait() // for the snapshot
			stop()
		})
		left := messagesOf(t, dir, &log)
		if !strings.Contains(log.String(), "the journal is damaged") || left != 19 && left != 20 && (left != 10 || !strings.Contains(log.String(), "messages are lost")) {
			t.Errorf("byte %d: %d messages of 20; %s", i, left, &log)
		}
		log.Reset()
		if again := messagesOf(t, dir, &log); again != left || log.Len() > 0 {
			t.Errorf("byte %d: %d messages at the next start, of %d; %s", i, again, left, &log)
		}
	}
}

// messagesOf counts what a journal has.
func messagesOf(t *testing.T, dir string, log *strings.Builder) (n int) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		b, stop := start(t, broker.Config{Dir: dir, Logger: slog.New(slog.NewTextHandler(log, nil))})
		defer stop()
		for _, q := range b.Entities() {
			n += len(peek(t, b, q.Name))
		}
	})
	return n
}
