package store

import (
	"context"
	"log/slog"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
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
	dir := t.TempDir()
	js, err := jetstream.New(startServer(t, func(o *server.Options) { o.JetStream, o.StoreDir = true, dir })())
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "settings"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.Create(t.Context(), lanesKey, []byte("3")); err != nil {
		t.Fatal(err)
	}
	s := &Store{js: js, cfg: Config{Prefix: DefaultPrefix, Logger: slog.New(slog.DiscardHandler)}}
	if err := s.takeLanes(t.Context(), &lagging{KeyValue: kv}); err != nil || s.lanes != 3 {
		t.Errorf("%d lanes, %v", s.lanes, err)
	}
}
