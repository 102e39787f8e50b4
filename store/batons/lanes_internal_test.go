package batons

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/store/conn"
	"github.com/carillon-sched/carillon/store/storetest"
)

// lagging is a bucket whose first reads are answered by a lagging replica.
type lagging struct {
	jetstream.KeyValue

	reads int
}

func (l *lagging) Get(ctx context.Context, key string) (jetstream.KeyValueEntry, error) {
	l.reads++
	if l.reads <= 2 {
		return nil, jetstream.ErrKeyNotFound
	}
	return l.KeyValue.Get(ctx, key)
}

// TestLanesOfAQuickerReplica starts while another process has just written the number of lanes.
func TestLanesOfAQuickerReplica(t *testing.T) {
	c := must.Get(conn.New(storetest.Connect(t, storetest.Server(t)), conn.Config{}))(t)
	kv := must.Get(c.JS.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "settings"}))(t)
	must.Get(kv.Create(t.Context(), lanesKey, []byte("3")))(t)
	c.Settings = &lagging{KeyValue: kv}
	s := New(c)
	if err := s.TakeLanes(t.Context()); err != nil || s.lanes != 3 {
		t.Errorf("%d lanes, %v", s.lanes, err)
	}
}
