package store_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// publish publishes a spec and returns its sequence.
func (w *harness) publish(subject, body string) uint64 {
	w.t.Helper()
	ack := must.Get(w.js.Publish(w.t.Context(), "carillon.spec."+subject, []byte(body)))(w.t)
	return ack.Sequence
}

// specs delivers published specs as long as there is room.
func (w *harness) specs(room func() int) <-chan scheduler.PublishedSpec {
	ctx, cancel := context.WithCancel(w.t.Context())
	got, ended := make(chan scheduler.PublishedSpec, 100), make(chan error, 1)
	go func() {
		ended <- w.store.DeliverSpecs(ctx, nil, room, func(s scheduler.PublishedSpec) { got <- s })
	}()
	w.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Errorf("DeliverSpecs: %v", err)
		}
	})
	return got
}

// take waits for a spec.
func take(t *testing.T, specs <-chan scheduler.PublishedSpec) scheduler.PublishedSpec {
	t.Helper()
	select {
	case s := <-specs:
		return s
	case <-time.After(time.Minute):
		t.Fatal("no spec is delivered")
		return scheduler.PublishedSpec{}
	}
}

// TestDeliverSpecs checks the delivery of well-formed and malformed specs.
func TestDeliverSpecs(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		got := w.specs(wide)
		for _, test := range []struct{ subject, verb, name string }{
			{"put.c.job", "put", "c.job"},
			{"delete.c.job", "delete", "c.job"},
			{"whatever.c.job", "whatever", "c.job"},
			{"put.job", "put", "job"},
			{"put.a.b.c", "put", "a.b.c"},
			{"put", "put", ""},
		} {
			published := time.Now()
			sequence := w.publish(test.subject, "body")
			s := take(t, got)
			if s.Verb != test.verb || s.Name != test.name || string(s.Body) != "body" || s.Sequence != sequence {
				t.Errorf("%s is delivered as %+v", test.subject, s)
			}
			if s.Published.Sub(published).Abs() > time.Second {
				t.Errorf("published at %s, want %s", s.Published, published)
			}
			w.must(s.Lease.Ack())
		}
		time.Sleep(time.Second)
		if n := w.messages("CARILLON_SPECS"); n != 0 {
			t.Errorf("%d specs are left", n)
		}
	})
}

// TestSpecLease: a held spec stays, a released one is redelivered, and those of a dead process reach another one.
func TestSpecLease(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		sequence := w.publish("put.c.job", "body")
		got := w.specs(wide)
		s := take(t, got)
		time.Sleep(5 * time.Minute)
		w.must(s.Lease.Nak(0))
		if s = take(t, got); s.Sequence != sequence {
			t.Errorf("delivered %d, want %d", s.Sequence, sequence)
		}
		time.Sleep(5 * time.Minute)
		if len(got) > 0 {
			t.Error("it is delivered again while it is held")
		}
		w.nc.Close()
		w.nc, w.store = w.open()
		if s = take(t, w.specs(wide)); s.Sequence != sequence {
			t.Errorf("delivered %d, want %d", s.Sequence, sequence)
		}
	})
}

// TestIsFirstSpec: which spec of a name is the first unfinished one.
func TestIsFirstSpec(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		ctx := t.Context()
		first := func(when string, sequence uint64, want bool) {
			t.Helper()
			got, err := w.store.IsFirstSpec(ctx, "c.job", sequence)
			if err != nil || got != want {
				t.Errorf("%s: %t, %v, want %t", when, got, err, want)
			}
		}
		first("there is none", 1, false)
		other := w.publish("put.c.job2", "of another name")
		one := w.publish("put.c.job", "1")
		two := w.publish("disable.c.job", "2, of another verb")
		first("of another name", other, false)
		first("the first", one, true)
		first("the second, while the first is there", two, false)
		got := w.specs(wide)
		for range 3 {
			if s := take(t, got); s.Sequence == one {
				first("the first, while it is worked on", one, true)
				w.must(s.Lease.Ack())
			}
		}
		time.Sleep(time.Second)
		first("the first, which is done with", one, false)
		first("the second, after that", two, true)
	})
}

// TestEraseSpec erases a spec, and ignores a missing one.
func TestEraseSpec(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		ctx := t.Context()
		one, two := w.publish("put.c.job", "1"), w.publish("put.c.job", "2")
		w.must(w.store.EraseSpec(ctx, one))
		if n := w.messages("CARILLON_SPECS"); n != 1 {
			t.Errorf("%d specs are left, want 1", n)
		}
		w.must(w.store.EraseSpec(ctx, one))
		w.must(w.store.EraseSpec(ctx, 1000))
		s := take(t, w.specs(wide))
		if s.Sequence != two {
			t.Errorf("delivered %d, want %d", s.Sequence, two)
		}
		w.must(s.Lease.Ack())
		time.Sleep(time.Second)
		w.must(w.store.EraseSpec(ctx, two)) // already acknowledged
	})
}

// TestClaimSpec claims IDs; the stream has no duplicate window.
func TestClaimSpec(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		ctx := t.Context()
		for i, subject := range []string{"put.a.job", "put.b.job", "put.a.job"} {
			ack, err := w.js.Publish(ctx, "carillon.spec."+subject, nil, jetstream.WithMsgID("1"))
			if err != nil || ack.Duplicate || ack.Sequence != uint64(i+1) {
				t.Errorf("%d. spec: %+v, %v", i+1, ack, err)
			}
		}
		claim := func(subject string, sequence uint64, want string, kind error) {
			t.Helper()
			result, err := w.store.ClaimSpec(ctx, subject, "1", sequence)
			mustBe(t, subject, err, kind)
			if string(result) != want {
				t.Errorf("%s: %s, want %s", subject, result, want)
			}
		}
		claim("put.a.job", 1, "", nil)
		claim("put.a.job", 1, "", nil)
		claim("put.b.job", 2, "", nil)
		claim("put.a.job", 3, "", scheduler.ErrUnavailable) // the first one has no result yet
		w.must(w.store.SettleClaim(ctx, "put.a.job", "1", 1, []byte("done")))
		claim("put.a.job", 1, "", nil)
		claim("put.a.job", 3, "done", nil)
		time.Sleep(2 * time.Minute)
		claim("put.a.job", 3, "done", nil)
		time.Sleep(2 * time.Minute)
		claim("put.a.job", 4, "", nil)
	})
}

// TestPublishResult checks subject and retention of results.
func TestPublishResult(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		ctx := t.Context()
		w.must(w.store.PublishResult(ctx, "accepted", "c.job", []byte("1")))
		w.must(w.store.PublishResult(ctx, "rejected", "", []byte("2")))
		st := must.Get(w.js.Stream(ctx, "CARILLON_SPEC_RESULTS"))(t)
		for subject, want := range map[string]string{
			"carillon.spec-result.accepted.c.job": "1", "carillon.spec-result.rejected": "2",
		} {
			m, err := st.GetLastMsgForSubject(ctx, subject)
			if err != nil || string(m.Data) != want {
				t.Errorf("%s: %v, %v", subject, m, err)
			}
		}
	})
}

// TestMarkSpec counts the marks of a spec by any process.
func TestMarkSpec(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		ctx := t.Context()
		marked := func(sequence uint64, want int) {
			t.Helper()
			if n, err := w.store.MarkSpec(ctx, sequence); err != nil || n != want {
				t.Errorf("spec %d is marked %d times, %v, want %d", sequence, n, err, want)
			}
		}
		marked(1, 1)
		marked(2, 1)
		marked(1, 2)
		_, w.store = w.open()
		marked(1, 3)
		w.must(w.store.UnmarkSpec(ctx, 1))
		marked(1, 1)
		marked(2, 2)
		marked(66, 1) // replaces 2
		marked(2, 1)
		w.must(w.store.UnmarkSpec(ctx, 3)) // without a mark
		marked(3, 1)
	})
}

// TestSpecsAreAskedForInBytes: specs of many megabytes in total arrive without a pause.
func TestSpecsAreAskedForInBytes(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		body := strings.Repeat("x", 1_000_000)
		for range 20 {
			w.publish("put.c.job", body)
		}
		began, got := time.Now(), w.specs(wide)
		for i := range 20 {
			if s := take(t, got); len(s.Body) != len(body) || s.Deliveries != 1 {
				t.Fatalf("spec %d has %d bytes, and is delivered %d times", i, len(s.Body), s.Deliveries)
			}
		}
		if took := time.Since(began); took > 100*time.Millisecond {
			t.Errorf("it took %s", took)
		}
	})
}

// TestCompletedRequest: a request for specs that is filled below its size limit causes no warning.
func TestCompletedRequest(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		var log strings.Builder
		w.store = must.Get(open(t, storetest.Connect(t, w.server), store.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}))(t)
		got := w.specs(func() int { return 2 })
		for range 10 {
			w.publish("put.c.job", "{}")
			w.must(take(t, got).Lease.Ack())
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if log.Len() > 0 {
			t.Errorf("the log says %s", log.String())
		}
	})
}
