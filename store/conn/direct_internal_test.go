package conn

import (
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/storetest"
)

// TestLastOfAsksAgain: a server before 2.15 may end an answer early if a message was removed after its lookup. The
// request is then repeated a few times.
func TestLastOfAsksAgain(t *testing.T) {
	nc := startServer(t, nil)()
	for broken, want := range map[int32]error{0: nil, 1: nil, lastOfTries - 1: nil, lastOfTries: scheduler.ErrUnavailable} {
		var asked atomic.Int32
		stream := "S" + strconv.Itoa(int(broken))
		must.Get(nc.Subscribe(directGet+stream, func(m *nats.Msg) {
			whole := asked.Add(1) > broken
			for i, subject := range []string{"a", "b"} {
				if i == 1 && !whole {
					_ = nc.PublishMsg(&nats.Msg{Subject: m.Reply, Header: nats.Header{"Status": {"404"}, "Description": {"Message Not Found"}}})
					return
				}
				_ = nc.PublishMsg(&nats.Msg{Subject: m.Reply, Header: nats.Header{
					jetstream.SubjectHeader: {subject}, jetstream.SequenceHeader: {"1"}, jetstream.TimeStampHeaer: {time.Now().Format(time.RFC3339Nano)},
				}})
			}
			_ = nc.PublishMsg(&nats.Msg{Subject: m.Reply, Header: nats.Header{"Status": {"204"}, "Description": {"EOB"}}})
		}))(t)
		got := ""
		err := (&Conn{NC: nc}).LastOf(t.Context(), stream, []string{"a", "b"}, func(m *jetstream.RawStreamMsg) { got += m.Subject })
		if !errors.Is(err, want) || (want == nil) != (got == "ab") {
			t.Errorf("broken off %d times: %q, %v", broken, got, err)
		}
	}
}

// TestSlowAnswer reads a batch whose messages arrive one by one, in more time than one may take.
func TestSlowAnswer(t *testing.T) {
	storetest.Test(t, func(t *testing.T) {
		nc := startServer(t, nil)()
		must.Get(nc.Subscribe(directGet+"S", func(m *nats.Msg) {
			for i := range 4 {
				time.Sleep(PublishTimeout / 2)
				_ = nc.PublishMsg(&nats.Msg{Subject: m.Reply, Header: nats.Header{
					jetstream.SubjectHeader: {"a"}, jetstream.SequenceHeader: {strconv.Itoa(i)}, jetstream.TimeStampHeaer: {time.Now().Format(time.RFC3339Nano)},
				}})
			}
			_ = nc.PublishMsg(&nats.Msg{Subject: m.Reply, Header: nats.Header{"Status": {"204"}, "Description": {"EOB"}}})
		}))(t)
		n := 0
		count := func(*jetstream.RawStreamMsg) bool { n++; return true }
		s := &Conn{NC: nc, Replicas: 1}
		must.Do(t, s.DirectGet(t.Context(), "S", DirectRequest{Batch: 4}, 4, count, func(*nats.Msg) {}))
		if n != 4 {
			t.Errorf("%d messages, want 4", n)
		}
	})
}
