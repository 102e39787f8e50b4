package natsapi_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/natsapi"
)

// TestFollowPlaces begins more live tails than one connection may have: the rest is refused with what to do, another
// connection still gets its own, and one that is ended makes room.
func TestFollowPlaces(t *testing.T) {
	const own = natsapi.MaxTails / 4
	w := newHarness(t)
	w.api()
	first := w.connect()
	ids := make([]string, own)
	for i := range ids {
		m := beginTail(t, first)
		if ids[i] = m.Header.Get("Carillon-Tail"); ids[i] == "" {
			t.Fatalf("tail %d: %v %s", i, m.Header, m.Data)
		}
	}
	refused := beginTail(t, first)
	if got := string(refused.Data); refused.Header.Get("Carillon-Tail") != "" || !strings.Contains(got, "64 live tails") ||
		!strings.Contains(got, "end one first") {
		t.Errorf("one more of the same connection: %v %s", refused.Header, got)
	}
	if m := beginTail(t, w.connect()); m.Header.Get("Carillon-Tail") == "" {
		t.Errorf("of another connection: %v %s", m.Header, m.Data)
	}
	must.Do(t, first.Publish("carillon.api.unfollow."+ids[0], nil))
	w.await("room for one more", func() bool { return beginTail(t, first).Header.Get("Carillon-Tail") != "" })
}

// beginTail asks for all that comes, and returns the first message of the answer.
func beginTail(t *testing.T, conn *nats.Conn) *nats.Msg {
	t.Helper()
	return must.Get(conn.Request("carillon.api.follow", nil, 10*time.Second))(t)
}
