package receive_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/actions/receive"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// stream creates the stream ORDERS of the user.
func (h *harness) stream() jetstream.JetStream {
	h.Helper()
	js := must.Get(jetstream.New(h.nc))(h)
	must.Get(js.CreateStream(h.Context(), jetstream.StreamConfig{
		Name: "ORDERS", Subjects: []string{"orders.>"}, Storage: jetstream.MemoryStorage,
	}))(h)
	return js
}

func (h *harness) send(js jetstream.JetStream, subject, body string) {
	h.Helper()
	must.Get(js.Publish(h.Context(), subject, []byte(body)))(h)
}

// consumers returns the number of consumers of ORDERS.
func (h *harness) consumers(js jetstream.JetStream) int {
	h.Helper()
	return must.Get(must.Get(js.Stream(h.Context(), "ORDERS"))(h).Info(h.Context()))(h).State.Consumers
}

// listen publishes a message until a core source listens.
func (h *harness) listen(subject, name string) {
	h.Helper()
	probe := &nats.Msg{Subject: subject, Data: []byte("0"), Header: nats.Header{nats.MsgIdHdr: {"probe"}}}
	must.Await(h, "the subscription", func() bool {
		must.Do(h, h.nc.PublishMsg(probe))
		return len(h.events(name)) > 0
	})
}

// TestSubject receives a core subject in two processes, each message once.
func TestSubject(t *testing.T) {
	h := newHarness(t, builtin.Config{})
	h.put("orders", `{"type": "nats", "nats": {"subject": "orders.*"}}`)
	h.put("twin", `{"type": "nats", "nats": {"subject": "orders.*"}}`)
	one, _ := h.start()
	two, _ := h.start()
	h.listen("orders.new", "orders")
	h.listen("orders.new", "twin")
	received := func() (n uint64) {
		for _, m := range []*receive.Manager{one, two} {
			status, _ := m.Status(key("orders"))
			n += status.Received
		}
		return n
	}
	const sent = 50
	for i := range sent {
		m := nats.NewMsg("orders.new")
		m.Data = fmt.Appendf(nil, `{"n":%d}`, i)
		m.Header = nats.Header{"Nats-Rollup": {"all"}, "X-Shop": {"north"}, nats.MsgIdHdr: {fmt.Sprint("m", i)}}
		must.Do(t, h.nc.PublishMsg(m))
	}
	all := h.await("orders", 1+sent)
	h.await("twin", 1+sent)
	must.Await(t, "the counts", func() bool { return received() >= 1+sent })
	if len(all) != 1+sent || received() != 1+sent {
		t.Errorf("%d events, %d received", len(all), received())
	}
	last := all[len(all)-1]
	h.attribute(last, "x-shop", "north")
	h.attribute(last, "subject", "orders.new")
	if last.ID[0] != 'm' {
		t.Errorf("id %s", last.ID)
	}
}

// TestStream receives what a stream had before, and what comes later, once, although a process crashes.
func TestStream(t *testing.T) {
	h := newHarness(t, builtin.Config{})
	js := h.stream()
	h.send(js, "orders.new", `1`)
	h.send(js, "orders.old", `2`)
	h.send(js, "orders.new", `3`)
	h.put("orders", `{"type": "nats", "nats": {"stream": "ORDERS", "subject": "orders.new", "start": "all"}}`)
	crashed := h.crash()
	_, stop := h.start()
	<-crashed
	stop()
	m, _ := h.start()
	h.want("orders", `1`, `3`)
	h.send(js, "orders.new", `4`)
	h.want("orders", `1`, `3`, `4`)
	must.Await(t, "the acknowledgements", func() bool {
		for c := range must.Get(js.Stream(t.Context(), "ORDERS"))(t).ListConsumers(t.Context()).Info() {
			if c.NumAckPending == 0 && c.NumPending == 0 && c.AckFloor.Stream == 4 {
				return true
			}
		}
		return false
	})
	status, ok := m.Status(key("orders"))
	if !ok || !status.Running || status.Received != 2 || status.LastEvent.IsZero() || status.Lag == nil || *status.Lag != 0 {
		t.Errorf("%+v, %t", status, ok)
	}
}

// TestStart begins in the middle of a stream.
func TestStart(t *testing.T) {
	h := newHarness(t, builtin.Config{})
	js := h.stream()
	for i := range 3 {
		h.send(js, "orders.new", strconv.Itoa(i+1))
	}
	h.put("orders", `{"type": "nats", "nats": {"stream": "ORDERS", "start": 2}}`)
	h.put("later", `{"type": "nats", "nats": {"stream": "ORDERS"}}`)
	h.start()
	must.Await(t, "the consumers", func() bool { return h.consumers(js) == 2 })
	h.send(js, "orders.new", `4`)
	h.want("orders", `2`, `3`, `4`)
	h.want("later", `4`)
}

// TestRefused terminates a message that cannot be an event, and continues.
func TestRefused(t *testing.T) {
	h := newHarness(t, builtin.Config{})
	js := h.stream()
	h.send(js, "orders.new", strings.Repeat("x", scheduler.MaxEventSize+1))
	h.send(js, "orders.new", `2`)
	h.put("orders", `{"type": "nats", "nats": {"stream": "ORDERS", "start": "all"}}`)
	m, _ := h.start()
	h.want("orders", `2`)
	if status := h.failure(m, "orders"); status.Refused != 1 || !strings.Contains(status.LastError, "at most 65536 are allowed") {
		t.Errorf("%+v", status)
	}
}

// TestRefusedByStore terminates a message that the store never takes, and ignores headers without a name.
func TestRefusedByStore(t *testing.T) {
	h := newHarness(t, builtin.Config{})
	js := h.stream()
	h.send(js, "orders.new", `1`)
	must.Get(js.PublishMsg(t.Context(), &nats.Msg{Subject: "orders.new", Data: []byte(`2`), Header: nats.Header{"ce-": {"x"}}}))(t)
	h.put("orders", `{"type": "nats", "nats": {"stream": "ORDERS", "start": "all"}}`)
	h.publish = func(_ context.Context, call int, store func() error) error {
		if call == 1 {
			return scheduler.Invalid("", "message could not decode headers")
		}
		return store()
	}
	m, _ := h.start()
	h.want("orders", `2`)
	if status, _ := m.Status(key("orders")); status.Refused != 1 {
		t.Errorf("%+v", status)
	}
}

// TestOwnSubjects refuses sources that would receive their own events.
func TestOwnSubjects(t *testing.T) {
	h := newHarness(t, builtin.Config{SourceSubjects: []string{"orders.>", "carillon.>"}})
	js := must.Get(jetstream.New(h.nc))(t)
	must.Get(js.CreateStream(t.Context(), jetstream.StreamConfig{
		Name: "COPY", Storage: jetstream.MemoryStorage, Sources: []*jetstream.StreamSource{{Name: "CARILLON_EVENTS"}},
	}))(t)
	must.Get(js.Publish(t.Context(), "carillon.event.default.a", []byte("1")))(t)
	h.put("subject", `{"type": "nats", "nats": {"subject": "carillon.*.default.*"}}`)
	h.put("stream", `{"type": "nats", "nats": {"stream": "CARILLON_EVENTS", "start": "all"}}`)
	h.put("copy", `{"type": "nats", "nats": {"stream": "COPY", "start": "all"}}`)
	h.put("other", `{"type": "nats", "nats": {"subject": "other.>"}}`)
	m, _ := h.start()
	for name, want := range map[string]string{
		"subject": "subjects of a scheduler", "stream": "subjects of a scheduler",
		"copy": "subjects of a scheduler", "other": "none of the subjects",
	} {
		if status := h.failure(m, name); !strings.Contains(status.LastError, want) || len(h.events(name)) > 0 {
			t.Errorf("%s: %+v", name, status)
		}
	}
}

// TestChanges restarts a changed source, stops a disabled one, and removes what a deleted one has left.
func TestChanges(t *testing.T) {
	h := newHarness(t, builtin.Config{})
	js := h.stream()
	h.put("orders", `{"type": "nats", "nats": {"stream": "ORDERS", "subject": "orders.a", "start": "all"}}`)
	m, _ := h.start()
	h.send(js, "orders.a", `1`)
	h.want("orders", `1`)
	h.put("orders", `{"type": "nats", "nats": {"stream": "ORDERS", "subject": "orders.b", "start": "all"}}`)
	h.send(js, "orders.b", `2`)
	h.want("orders", `1`, `2`)

	s := h.put("orders", `{"type": "nats", "state": "disabled", "nats": {"stream": "ORDERS", "subject": "orders.b", "start": "all"}}`)
	must.Await(t, "the stop", func() bool { status, _ := m.Status(s.Key); return !status.Running })
	h.send(js, "orders.b", `3`)
	if n := h.consumers(js); n != 1 || len(h.events("orders")) != 2 {
		t.Errorf("%d consumers, %d events", n, len(h.events("orders")))
	}
	s = h.put("orders", `{"type": "nats", "state": "enabled", "nats": {"stream": "ORDERS", "subject": "orders.b", "start": "all"}}`)
	h.want("orders", `1`, `2`, `3`)

	h.remove(s)
	must.Await(t, "the end of the consumer", func() bool { return h.consumers(js) == 0 })
	if status, ok := m.Status(s.Key); ok {
		t.Errorf("%+v", status)
	}
	h.put("orders", `{"type": "nats", "nats": {"stream": "ORDERS", "start": 4}}`)
	h.send(js, "orders.c", `4`)
	h.want("orders", `1`, `2`, `3`, `4`)
}

// TestMoved removes the consumer of a stream that a source has left.
func TestMoved(t *testing.T) {
	h := newHarness(t, builtin.Config{})
	js := h.stream()
	must.Get(js.CreateStream(t.Context(), jetstream.StreamConfig{
		Name: "BILLS", Subjects: []string{"bills"}, Storage: jetstream.MemoryStorage,
	}))(t)
	h.put("orders", `{"type": "nats", "nats": {"stream": "ORDERS"}}`)
	h.start()
	must.Await(t, "the consumer", func() bool { return h.consumers(js) == 1 })
	h.put("orders", `{"type": "nats", "nats": {"stream": "BILLS", "start": "all"}}`)
	must.Await(t, "the end of the consumer", func() bool { return h.consumers(js) == 0 })
	h.send(js, "bills", `1`)
	h.want("orders", `1`)
}

// TestFullStore keeps a message while the store does not take it.
func TestFullStore(t *testing.T) {
	h := newHarness(t, builtin.Config{})
	js := h.stream()
	h.send(js, "orders.new", `1`)
	h.put("orders", `{"type": "nats", "nats": {"stream": "ORDERS", "start": "all"}}`)
	h.publish = func(_ context.Context, call int, store func() error) error {
		if call < 3 {
			return scheduler.ErrUnavailable
		}
		return store()
	}
	m, _ := h.start()
	if status := h.failure(m, "orders"); !strings.Contains(status.LastError, "trying again") {
		t.Errorf("%+v", status)
	}
	h.want("orders", `1`)
}
