package broker_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"
	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// crash returns a copy of a journal as it would be if the process ended at this moment.
func crash(tb testing.TB, dir string) string {
	tb.Helper()
	copied := tb.TempDir()
	must.Do(tb, os.CopyFS(copied, os.DirFS(dir)))
	must.Do(tb, os.Remove(filepath.Join(copied, "lock")))
	return copied
}

// state is all that can be seen of a broker.
type state struct {
	Entities []broker.Info
	Rules    []string
	Messages map[string][][]byte
}

func look(tb testing.TB, b *broker.Broker) state {
	tb.Helper()
	s := state{Entities: b.Entities(), Messages: map[string][][]byte{}}
	var paths []string
	for i, info := range s.Entities {
		s.Entities[i].Usage.Accessed, s.Entities[i].Usage.Receivers = time.Time{}, 0
		if info.Kind != broker.TopicKind {
			paths = append(paths, info.Path)
		}
		if info.Kind != broker.SubscriptionKind {
			continue
		}
		for _, rule := range must.Get(b.Rules(info.Topic, info.Name))(tb) {
			s.Rules = append(s.Rules, fmt.Sprint(rule.Name, rule.Created, rule.Filter.Kind(), rule.Filter.Expression(), rule.Filter.Parameters(),
				rule.Filter.Correlation(), rule.Action.Expression()))
		}
	}
	for _, path := range paths {
		for _, suffix := range []string{"", "/$DeadLetterQueue", "/$Transfer/$DeadLetterQueue"} {
			for _, d := range must.Get(source(tb, b, path+suffix).Peek(0, 10000, nil))(tb) {
				s.Messages[path+suffix] = append(s.Messages[path+suffix], d.Payload)
			}
		}
	}
	return s
}

// same looks at a broker, and at what comes up from its journal.
func same(t *testing.T, b *broker.Broker, dir string) {
	t.Helper()
	must.Do(t, b.Flush())
	want := look(t, b)
	again, stop := start(t, broker.Config{Dir: crash(t, dir)})
	defer stop()
	if diff := cmp.Diff(want, look(t, again), cmp.Comparer(bytes.Equal)); diff != "" {
		t.Errorf("after the restart: %s", diff)
	}
}

func durable(t *testing.T, f func(t *testing.T, b *broker.Broker, dir string)) {
	t.Helper()
	dir := t.TempDir()
	bubble.Test(t, func(t *testing.T) {
		b, stop := start(t, broker.Config{Dir: dir})
		defer stop()
		f(t, b, dir)
	})
}

func TestRestart(t *testing.T) {
	durable(t, func(t *testing.T, b *broker.Broker, dir string) {
		must.Get(b.CreateQueue("q", broker.Options{DuplicateDetection: true, DeadLetterOnExpiration: true}))(t)
		must.Get(b.CreateQueue("sessions", broker.Options{RequiresSession: true, UserMetadata: "x"}))(t)
		must.Get(b.CreateQueue("forwards", broker.Options{ForwardTo: "q"}))(t)
		must.Get(b.CreateTopic("t", broker.Options{}))(t)
		must.Get(b.CreateSubscription("t", "s", broker.Options{}, &broker.Rule{
			Name: "r", Filter: must.Get(filter.ParseSQL("n > @n", amqp.Map{{Key: "@n", Value: int64(1)}}))(t),
			Action: must.Get(filter.ParseAction("SET n = n + 1", nil))(t),
		}))(t)
		must.Get(b.CreateRule("t", "s", broker.Rule{Name: "c", Filter: must.Get(filter.NewCorrelation(filter.CorrelationFilter{
			Label: "x", Properties: amqp.Map{{Key: "p", Value: int32(1)}},
		}))(t)}))(t)
		must.Get(b.CreateQueue("gone", broker.Options{}))(t)
		send(t, b, "gone", ids(3)...)
		must.Do(t, b.Delete("gone"))
		same(t, b, dir)

		send(t, b, "q", ids(10)...)
		send(t, b, "q", spec{id: "annotated", delivery: amqp.Map{{Key: amqp.Symbol("x-opt-mine"), Value: "kept"}}})
		send(t, b, "q", spec{id: "ttl", ttl: time.Second}, spec{id: "later", at: time.Now().Add(time.Hour)})
		send(t, b, "forwards", spec{id: "forwarded"})
		send(t, b, "sessions", spec{id: "a", session: "s"}, spec{id: "b", session: "other"})
		send(t, b, "t", spec{id: "in", properties: amqp.Map{{Key: "n", Value: int64(5)}}}, spec{id: "out"})
		same(t, b, dir)

		r := receive(t, b, "q", broker.ReceiverConfig{})
		r.SetCredit(6)
		r.settle(r.next(), broker.Outcome{})
		r.settle(r.next(), broker.Outcome{Kind: broker.Defer, Properties: amqp.Map{{Key: "k", Value: "v"}}})
		r.settle(r.next(), broker.Outcome{Kind: broker.Defer})
		r.settle(r.next(), broker.Outcome{Kind: broker.Abandon})
		r.settle(r.next(), broker.Outcome{Kind: broker.MoveDeadLetter, Reason: "no"})
		txn := b.Begin()
		must.Get(r.source.Settle(r.next().Token, broker.Outcome{}, txn))(t)
		must.Get(target(t, b, "t").Send([]amqp.Message{build(t, spec{id: "txn", label: "x", properties: amqp.Map{{Key: "p", Value: int8(1)}}})}, txn))(t)
		same(t, b, dir)
		receipt := must.Get(txn.Commit())(t)
		must.Do(t, receipt.Wait())
		same(t, b, dir)
		pass(2 * time.Second)
		session := must.Get(source(t, b, "sessions").Accept("s"))(t)
		must.Get(source(t, b, "sessions").SetSessionState("s", []byte("kept")))(t)
		session.Close()
		same(t, b, dir)
		send(t, b, "q", spec{id: "4"}) // a duplicate
		pass(2 * time.Hour)            // locks end, and what was scheduled is active
		same(t, b, dir)

		again, stop := start(t, broker.Config{Dir: crash(t, dir)})
		defer stop()
		send(t, again, "q", spec{id: "new"})
		last := must.Get(source(t, again, "q").Peek(14, 10, nil))(t)
		if m := parse(t, last[len(last)-1]); m.id() != "new" || m.Sequence < 14 {
			t.Errorf("sequence number %d", m.Sequence)
		}
		must.Get(source(t, again, "sessions").Accept("s"))(t)
		if kept := must.Get(source(t, again, "sessions").SessionState("s"))(t); string(kept) != "kept" {
			t.Errorf("%q", kept)
		}
	})
}

// TestRuleValuesAfterRestart shows that a value keeps its type, and a time without a zone that it has none.
func TestRuleValuesAfterRestart(t *testing.T) {
	durable(t, func(t *testing.T, b *broker.Broker, dir string) {
		at := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
		want := amqp.Map{
			{Key: "@plain", Value: at},
			{Key: "unzoned", Value: at.In(filter.Unzoned)},
			{Key: "span", Value: filter.Span(time.Hour)},
			{Key: "guid", Value: amqp.UUID{1}},
			{Key: "char", Value: amqp.Char('x')},
			{Key: "short", Value: int16(5)},
		}
		must.Get(b.CreateTopic("t", broker.Options{}))(t)
		must.Get(b.CreateSubscription("t", "s", broker.Options{}, &broker.Rule{
			Name: "r", Filter: must.Get(filter.NewCorrelation(filter.CorrelationFilter{Properties: want}))(t),
			Action: must.Get(filter.ParseAction("SET a = @plain", want))(t),
		}))(t)
		again, stop := start(t, broker.Config{Dir: crash(t, dir)})
		defer stop()
		rule := must.Get(again.Rule("t", "s", "r"))(t)
		for _, got := range []amqp.Map{rule.Filter.Correlation().Properties, rule.Action.Parameters()} {
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%#v, want %#v", got, want)
			}
		}
	})
}

// TestJournalStaysShort shows that what has been settled leaves the disk.
func TestJournalStaysShort(t *testing.T) {
	dir := t.TempDir()
	b, stop := start(t, broker.Config{Dir: dir, SnapshotAfter: 20_000})
	must.Get(b.CreateQueue("q", broker.Options{}))(t)
	send(t, b, "q", spec{id: "stays"})
	r := receive(t, b, "q", broker.ReceiverConfig{})
	r.SetCredit(1)
	r.settle(r.next(), broker.Outcome{Kind: broker.Defer})
	for range 2000 {
		send(t, b, "q", spec{id: "goes"})
		r.SetCredit(1)
		r.settle(r.next(), broker.Outcome{})
	}
	// Snapshots are written in the background. Without them it would have 300,000 bytes.
	must.Await(t, "a journal of less than 100,000 bytes", func() bool { return sizeOf(t, dir) <= 100_000 })
	stop()
	b, stop = start(t, broker.Config{Dir: dir})
	defer stop()
	wantIDs(t, peek(t, b, "q"), "stays")
}

// sizeOf is how many bytes the files of a directory have.
func sizeOf(t *testing.T, dir string) int64 {
	t.Helper()
	size := int64(0)
	for _, entry := range must.Get(os.ReadDir(dir))(t) {
		if info, err := entry.Info(); err == nil { // it may just have been removed
			size += info.Size()
		}
	}
	return size
}

// TestLargeSnapshot has more in one entity than fits one part.
func TestLargeSnapshot(t *testing.T) {
	durable(t, func(t *testing.T, b *broker.Broker, dir string) {
		must.Get(b.CreateQueue("q", broker.Options{}))(t)
		for i := range 20 {
			send(t, b, "q", spec{id: strconv.Itoa(i), label: strings.Repeat("x", 500_000)})
		}
		must.Do(t, b.Snapshot())
		send(t, b, "q", spec{id: "after"})
		same(t, b, dir)
	})
}

func TestClosedJournal(t *testing.T) {
	b, stop := start(t, broker.Config{Dir: t.TempDir()})
	must.Get(b.CreateQueue("q", broker.Options{}))(t)
	stop()
	receipt, err := target(t, b, "q").Send([]amqp.Message{build(t, spec{})}, nil)
	if err == nil {
		err = receipt.Wait()
	}
	wantCondition(t, err, broker.InternalError)
	called := make(chan error, 1)
	receipt.Then(func(err error) { called <- err })
	wantCondition(t, <-called, broker.InternalError)
}
