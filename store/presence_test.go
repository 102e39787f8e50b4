package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// holder is a process that takes and holds as many messages as it gets.
type holder struct {
	*hands

	nc    *nats.Conn
	store *store.Store
	wake  chan struct{}
	room  int
	mu    sync.Mutex
}

// holder starts a process with room for n batons.
func (w *harness) holder(n int) *holder {
	w.t.Helper()
	nc, s := w.open()
	return w.holding(ofBatons, nc, s, n)
}

func (w *harness) holding(of queue, nc *nats.Conn, s *store.Store, n int) *holder {
	h := &holder{nc: nc, store: s, wake: make(chan struct{}, 1), room: n}
	h.hands = w.collect(of, s, func() int {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.room
	}, h.wake, func() { h.grow(-1) })
	return h
}

// grow adds room for n messages.
func (h *holder) grow(n int) {
	h.mu.Lock()
	h.room += n
	h.mu.Unlock()
	if n > 0 {
		h.wake <- struct{}{}
	}
}

// kill ends the process like kill -9.
func (h *holder) kill() {
	h.nc.Close()
	go h.stop()
}

// all returns the messages that arrive within d, by name.
func (h *holder) all(d time.Duration) map[string]*scheduler.Delivery {
	end, got := time.After(d), map[string]*scheduler.Delivery{}
	for {
		select {
		case g := <-h.got:
			got[g.BatonKey.Detached] = g
		case <-end:
			return got
		}
	}
}

// fire fires n batons.
func (w *harness) fire(n int) {
	w.t.Helper()
	for i := range n {
		w.must(w.store.Fire(w.t.Context(), beside(fmt.Sprintf("x%d", i)), []byte("b"), 0))
	}
}

// sleeper starts a process that announces a held message and then stalls.
func (w *harness) sleeper() *nats.Conn {
	w.t.Helper()
	nc := storetest.Connect(w.t, w.server)
	must.Get(nc.SubscribeSync("carillon.presence.one.sleeper"))(w.t)
	w.must(nc.Publish("carillon.presence.all", []byte(`{"id":"sleeper","says":"holds"}`)))
	w.must(nc.Flush())
	return nc
}

// TestStalledProcessKeepsItsBatons: a connected process that is silent for a while keeps its batons.
func TestStalledProcessKeepsItsBatons(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		b := w.holder(0)
		slow := w.sleeper()
		js := must.Get(jetstream.New(slow))(t)
		c := must.Get(js.Consumer(t.Context(), "CARILLON_TIMERS_0", "workers"))(t)
		w.fire(1)
		m := must.Get(c.Next())(t)
		b.grow(1)
		for range 20 {
			b.none(4 * time.Second)
			w.must(m.InProgress())
		}
	})
}

// gate lets a client connect while it is open.
type gate struct {
	*server.Server

	mu     sync.Mutex
	closed bool
	conns  []net.Conn
}

var errClosed = errors.New("the gate is closed")

// InProcessConn implements [nats.InProcessConnProvider].
func (g *gate) InProcessConn() (net.Conn, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, errClosed
	}
	c, err := g.Server.InProcessConn()
	g.conns = append(g.conns, c)
	return c, err
}

// set opens or closes the gate; closing it breaks the connections.
func (g *gate) set(open bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = !open
	for _, c := range g.conns {
		_ = c.Close()
	}
	g.conns = nil
}

// TestLostConnection: after a disconnect, a process starts no message that others may have. It keeps its messages
// without other processes, or after a short disconnect.
func TestLostConnection(t *testing.T) {
	type row struct {
		away   time.Duration
		others bool
		stands bool
	}
	inBubbles(t, map[string]row{
		"long":                           {5 * time.Second, true, false},
		"long, and there is nobody else": {5 * time.Second, false, true},
		"for a moment":                   {200 * time.Millisecond, true, true},
	}, func(t *testing.T, w *harness, test row) {
		g := &gate{Server: w.server}
		nc := connect(t, g, nats.MaxReconnects(-1), nats.ReconnectBufSize(-1), nats.ReconnectWait(50*time.Millisecond), nats.ReconnectJitter(0, 0))
		s := must.Get(open(t, nc, store.Config{}))(t)
		a := w.holding(ofBatons, nc, s, 2)
		w.fire(2)
		early, late := a.take(), a.take()
		var b *holder
		if test.others {
			b = w.holder(100)
			w.must(w.store.Fire(t.Context(), own, []byte("b"), 0))
			b.take() // and announces it
		}
		if !test.others {
			w.nc.Close()
		}
		time.Sleep(5 * time.Second)
		g.set(false)
		time.Sleep(test.away)
		if early.Lease.Stands() != test.stands {
			t.Errorf("while it is away: %t", !test.stands)
		}
		g.set(true)
		time.Sleep(time.Second)
		if late.Lease.Stands() != test.stands {
			t.Errorf("when it is back: %t", !test.stands)
		}
		early.Lease.Drop()
		late.Lease.Drop()
		if b == nil {
			return
		}
		want := 0
		if !test.stands {
			want = 2
		}
		if got := len(b.all(time.Minute)); got != want {
			t.Errorf("another was given %d of them, want %d", got, want)
		}
	})
}

// TestQuietPresence: no notices without held messages, and few with them.
func TestQuietPresence(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		a, b := w.holder(1), w.holder(0)
		time.Sleep(time.Minute) // they have started
		sub := must.Get(storetest.Connect(t, w.server).SubscribeSync("carillon.presence.>"))(t)
		_ = sub.SetPendingLimits(-1, -1)
		said := func(d time.Duration) (words []string) {
			time.Sleep(d)
			for {
				m, err := sub.NextMsg(time.Millisecond)
				if err != nil {
					return words
				}
				var n struct {
					Says string `json:"says"`
				}
				w.must(json.Unmarshal(m.Data, &n))
				words = append(words, n.Says)
			}
		}
		if got := said(2 * time.Hour); len(got) > 0 {
			t.Errorf("while nothing is held: %d words, %v", len(got), got[:1])
		}
		w.fire(1)
		d := a.take()
		got := said(10 * time.Second)
		if len(got) < 18 || len(got) > 22 || slices.ContainsFunc(got, func(s string) bool { return s != "holds" }) {
			t.Errorf("in ten seconds of holding: %v", got)
		}
		w.must(d.Lease.Ack())
		if got = said(5 * time.Second); len(got) == 0 || len(got) > 6 || got[len(got)-1] != "rests" {
			t.Errorf("after the end: %v", got)
		}
		if got := said(2 * time.Hour); len(got) > 0 {
			t.Errorf("while nothing is held any more: %v", got)
		}
		a.grow(1)
		w.must(w.store.Fire(t.Context(), own, []byte("b"), 0))
		d = a.take()
		go func() {
			time.Sleep(time.Second)
			_ = d.Lease.Ack()
		}()
		time.Sleep(500 * time.Millisecond)
		a.stop() // while a message is held, its end is announced immediately
		time.Sleep(600 * time.Millisecond)
		a.nc.Close()
		if got := said(time.Minute); len(got) == 0 || got[len(got)-1] != "rests" {
			t.Errorf("at the end of a process: %v", got)
		}
		b.none(time.Second)
	})
}

// TestPresenceForbidden: a process without presence permissions works, warns, and the others do not claim its messages.
func TestPresenceForbidden(t *testing.T) {
	storetest.Test(t, func(t *testing.T) {
		w := &harness{t: t, server: storetest.Server(t, func(o *server.Options) {
			o.Users = []*server.User{
				{Username: "free", Password: "p"},
				{Username: "quiet", Password: "p", Permissions: &server.Permissions{
					Publish: &server.SubjectPermission{Deny: []string{"carillon.presence.>"}},
				}},
			}
			o.NoAuthUser = "free"
		})}
		w.nc, w.store = w.open()
		w.js = must.Get(jetstream.New(storetest.Connect(t, w.server)))(t)
		nc := connect(t, w.server, nats.UserInfo("quiet", "p"))
		var log strings.Builder
		s := must.Get(open(t, nc, store.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}))(t)
		if !strings.Contains(log.String(), "subject=carillon.presence.>") {
			t.Errorf("the log has nothing of it: %s", log.String())
		}
		must.Get(s.Check(t.Context()))(t)
		quiet, a, b := w.holding(ofBatons, nc, s, 1), w.holder(0), w.holder(0)
		w.fire(1)
		d := quiet.take()
		a.grow(1)
		w.must(w.store.Fire(t.Context(), own, []byte("b"), 0))
		a.take()
		time.Sleep(10 * time.Second)
		must.Get(s.Check(t.Context()))(t)
		a.kill()
		b.grow(10)
		if got := b.take(); got.BatonKey != own {
			t.Errorf("%v was taken from a process that lives", got.BatonKey)
		}
		b.none(time.Minute)
		w.must(d.Lease.Ack())
	})
}
