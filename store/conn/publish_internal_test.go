package conn

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/failover"
	"github.com/carillon-sched/carillon/store/storetest"
)

// wire is a publisher whose stream the test plays.
type wire struct {
	t     *testing.T
	nc    *nats.Conn // of the publisher
	other *nats.Conn // of the stream
	store *Conn
}

// onWire runs f in a bubble.
func onWire(t *testing.T, f func(t *testing.T, w *wire)) {
	t.Helper()
	storetest.Test(t, func(t *testing.T) {
		connect := startServer(t, nil)
		w := &wire{t: t, nc: connect(), other: connect()}
		p := must.Get(newPublisher(w.nc, failover.New(failover.Config{Conn: w.nc})))(t)
		w.store = &Conn{Config: Config{Logger: slog.New(slog.DiscardHandler)}, NC: w.nc, publisher: p, suspicions: make(chan struct{}, 1)}
		f(t, w)
	})
}

// stream returns the published messages, to be answered.
func (w *wire) stream() <-chan *nats.Msg {
	w.t.Helper()
	heard := make(chan *nats.Msg, 1000)
	must.Get(w.other.ChanSubscribe("stream", heard))(w.t)
	must.Do(w.t, w.other.Flush())
	return heard
}

// publish publishes a body.
func (w *wire) publish(ctx context.Context, body string) (uint64, error) {
	return w.store.Publish(ctx, w.store.BareMessage("stream", []byte(body)))
}

// ack acknowledges a message with the number in its body.
func ack(t *testing.T, m *nats.Msg) {
	t.Helper()
	if err := m.Respond([]byte(`{"stream":"S","seq":` + string(m.Data) + `}`)); err != nil {
		t.Error(err)
	}
}

// TestPublishedAnswersReachTheirs publishes many messages at the same time and acknowledges them out of order.
func TestPublishedAnswersReachTheirs(t *testing.T) {
	onWire(t, func(t *testing.T, w *wire) {
		heard := w.stream()
		var all sync.WaitGroup
		const many = 500
		for round := range 3 { // with reused messages
			for i := range many {
				want := uint64(round*many + i + 1)
				all.Go(func() {
					if got, err := w.publish(t.Context(), strconv.FormatUint(want, 10)); got != want || err != nil {
						t.Errorf("%d is answered by %d, %v", want, got, err)
					}
				})
			}
			messages := make([]*nats.Msg, many)
			for i := range messages {
				messages[many-1-i] = <-heard
			}
			for _, m := range messages {
				ack(t, m)
			}
			all.Wait()
		}
	})
}

// TestPublishHeaders: a message has its own headers and none of earlier messages.
func TestPublishHeaders(t *testing.T) {
	onWire(t, func(t *testing.T, w *wire) {
		heard := w.stream()
		go func() {
			for range 30 {
				m := <-heard
				ack(t, m)
				if n := len(m.Header); string(m.Data) == "1" && (n != 2 || m.Header.Get("A") != "a" || m.Header.Get("B") != "b") ||
					string(m.Data) == "2" && (n != 1 || m.Header.Get("B") != "c") || string(m.Data) == "3" && m.Header != nil {
					t.Errorf("%s has the headers %v", m.Data, m.Header)
				}
			}
		}()
		for range 10 {
			m := w.store.Message("stream", []byte("1"))
			SetHeader(m, "A", "a")
			SetHeader(m, "B", "b")
			_, first := w.store.Publish(t.Context(), m)
			m = w.store.Message("stream", []byte("2"))
			SetHeader(m, "B", "c")
			_, second := w.store.Publish(t.Context(), m)
			_, third := w.publish(t.Context(), "3")
			must.Do(t, errors.Join(first, second, third))
		}
	})
}

// TestPublishTimeout: every message has the same timeout, and a late acknowledgement is dropped.
func TestPublishTimeout(t *testing.T) {
	onWire(t, func(t *testing.T, w *wire) {
		heard := w.stream()
		var all sync.WaitGroup
		for i := range 3 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 2 * time.Second)
				began := time.Now()
				_, err := w.publish(t.Context(), strconv.Itoa(i+1))
				if !errors.Is(err, scheduler.ErrUnavailable) || !errors.Is(err, jetstream.ErrAsyncPublishTimeout) {
					t.Errorf("%d ends with %v", i, err)
				}
				if took := time.Since(began); took != PublishTimeout {
					t.Errorf("%d ends after %s", i, took)
				}
			})
		}
		all.Wait()
		select {
		case <-w.store.Suspicions():
		default:
			t.Error("nothing is suspected")
		}
		all.Go(func() {
			if got, err := w.publish(t.Context(), "9"); got != 9 || err != nil {
				t.Errorf("got %d, %v, want 9", got, err)
			}
		})
		for range 4 {
			ack(t, <-heard) // three of them too late
		}
		all.Wait()
	})
}

// TestPublishAcrossReconnect: messages in flight fail immediately when the connection is lost, and earlier
// acknowledgements are dropped afterwards.
func TestPublishAcrossReconnect(t *testing.T) {
	onWire(t, func(t *testing.T, w *wire) {
		heard := w.stream()
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				began := time.Now()
				_, err := w.publish(t.Context(), strconv.Itoa(i+1))
				if !errors.Is(err, scheduler.ErrUnavailable) || !errors.Is(err, nats.ErrDisconnected) || time.Since(began) > time.Second {
					t.Errorf("%d ends with %v after %s", i, err, time.Since(began))
				}
			})
		}
		var before []*nats.Msg
		for range 10 {
			before = append(before, <-heard)
		}
		must.Do(t, w.nc.ForceReconnect())
		all.Wait()
		time.Sleep(10 * time.Second)
		for i := range 10 {
			all.Go(func() {
				want := uint64(100 + i)
				if got, err := w.publish(t.Context(), strconv.FormatUint(want, 10)); got != want || err != nil {
					t.Errorf("%d is answered by %d, %v", want, got, err)
				}
			})
		}
		for _, m := range before {
			ack(t, m)
		}
		for range 10 {
			ack(t, <-heard)
		}
		all.Wait()
	})
}

// TestPublishOnClosedConnection: no publish keeps waiting on a closed connection.
func TestPublishOnClosedConnection(t *testing.T) {
	onWire(t, func(t *testing.T, w *wire) {
		heard := w.stream()
		failed := make(chan error)
		go func() {
			_, err := w.publish(t.Context(), "1")
			failed <- err
		}()
		<-heard
		w.nc.Close()
		for what, err := range map[string]error{"under way": <-failed, "later": func() error { _, err := w.publish(t.Context(), "2"); return err }()} {
			if !errors.Is(err, scheduler.ErrUnavailable) || !errors.Is(err, nats.ErrConnectionClosed) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

// TestPublishToNobody: a message without a responder, as during a leader change, is retried a limited number of times.
func TestPublishToNobody(t *testing.T) {
	onWire(t, func(t *testing.T, w *wire) {
		began := time.Now()
		_, err := w.publish(t.Context(), "1")
		if !errors.Is(err, scheduler.ErrUnavailable) || !errors.Is(err, jetstream.ErrNoStreamResponse) {
			t.Errorf("nobody: %v", err)
		}
		if took := time.Since(began); took < untakenTries*untakenPause || took >= (untakenTries+1)*untakenPause {
			t.Errorf("it took %s", took)
		}
		time.AfterFunc(untakenPause/2, func() {
			heard := w.stream()
			go func() { ack(t, <-heard) }()
		})
		if got, err := w.publish(t.Context(), "2"); got != 2 || err != nil {
			t.Errorf("somebody in the end: %d, %v", got, err)
		}
	})
}

// TestPublishEndsWithItsContext: a publish returns the cause of its context while it waits for the answer, for the
// window or between two attempts.
func TestPublishEndsWithItsContext(t *testing.T) {
	onWire(t, func(t *testing.T, w *wire) {
		cause := errors.New("enough")
		soon := func() context.Context {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(untakenPause/2, func() { cancel(cause) })
			return ctx
		}
		if _, err := w.publish(soon(), "1"); err != cause { //nolint:errorlint // as it is
			t.Errorf("between two tries: %v", err)
		}
		heard := w.stream()
		if _, err := w.publish(soon(), "2"); err != cause { //nolint:errorlint // as it is
			t.Errorf("without answer: %v", err)
		}
		w.store.publisher.window = make(chan struct{}, 1)
		first := make(chan error)
		go func() {
			_, err := w.publish(t.Context(), "3")
			first <- err
		}()
		time.Sleep(time.Millisecond)
		if _, err := w.publish(soon(), "4"); err != cause { //nolint:errorlint // as it is
			t.Errorf("without room: %v", err)
		}
		ack(t, <-heard)
		ack(t, <-heard)
		if err := <-first; err != nil {
			t.Errorf("the first: %v", err)
		}
		if n := len(heard); n > 0 {
			t.Errorf("%d messages too many were sent", n)
		}
	})
}

// BenchmarkPublish compares a publish with a baton's headers and its acknowledgement, without a stream, with the client
// library.
func BenchmarkPublish(b *testing.B) {
	nc := startServer(b, nil)()
	must.Get(nc.Subscribe("stream", func(m *nats.Msg) { _ = nc.Publish(m.Reply, plain) }))(b)
	p := must.Get(newPublisher(nc, failover.New(failover.Config{Conn: nc})))(b)
	s := &Conn{NC: nc, publisher: p}
	js := must.Get(jetstream.New(nc))(b)
	headers := []string{jetstream.ScheduleHeader, jetstream.ScheduleTargetHeader, jetstream.ExpectedLastSubjSeqHeader}
	b.Run("own", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m := s.Message("stream", plain)
			for _, h := range headers {
				SetHeader(m, h, "value")
			}
			if _, err := s.Publish(b.Context(), m); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m := nats.NewMsg("stream")
			m.Data = plain
			for _, h := range headers {
				m.Header.Set(h, "value")
			}
			f, err := js.PublishMsgAsync(m)
			if err != nil {
				b.Fatal(err)
			}
			select {
			case <-f.Ok():
			case err := <-f.Err():
				b.Fatal(err)
			}
		}
	})
}

var plain = []byte(`{"stream":"CARILLON_TIMERS_0","seq":123456}`)

// TestFailedWriteNamesStreamsThatTakeNone fails a write after a check that found a read-only stream and a lost
// consumer. The error names only the first, because the second stream accepts writes.
func TestFailedWriteNamesStreamsThatTakeNone(t *testing.T) {
	s := &Conn{suspicions: make(chan struct{}, 1)}
	idle, shut := Shut{Stream: "A", Idle: true, Reason: noAnswer}, Shut{Stream: "B", Reason: noLeader}
	for _, c := range []struct {
		found Shuts
		want  string
	}{
		{Shuts{idle}, jetstream.ErrAsyncPublishTimeout.Error()},
		{Shuts{idle, shut}, "no writes are accepted by stream B: " + noLeader + "; start the NATS servers that are away, and see their logs"},
	} {
		s.shut.Store(&c.found)
		if err := s.suspect(jetstream.ErrAsyncPublishTimeout); err.Error() != c.want {
			t.Errorf("%v: got %q, want %q", c.found, err, c.want)
		}
	}
}
