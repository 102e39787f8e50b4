package buckets

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/conn"
	"github.com/carillon-sched/carillon/store/storetest"
)

// TestReplicaBehind reads values from a lagging replica that does not have the last change. The read is repeated until
// it does, and earlier answers are discarded.
func TestReplicaBehind(t *testing.T) {
	for name, test := range map[string]struct {
		known time.Duration // until the replica has it; 0: never
		want  []string
		err   error
	}{
		"for a moment": {time.Second, []string{"a: second at 2"}, nil},
		"for too long": {0, nil, scheduler.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Test(t, func(t *testing.T) {
				st := inMemory(t)
				var told []string
				w := &watch{
					bucket: st.bucket(collectionsBucket), wake: make(chan struct{}, 1), owed: map[string]bool{},
					changed: func(name string, revision uint64, data []byte) {
						told = append(told, fmt.Sprintf("%s: %s at %d", name, data, revision))
					},
				}
				must.Get(w.bucket.Save(t.Context(), "a", []byte("first"), 0))(t)
				w.owe(change{"a", 2})
				if test.known > 0 {
					go func() {
						time.Sleep(test.known)
						_, _ = w.bucket.Save(t.Context(), "a", []byte("second"), 1)
					}()
				}
				if err := w.read(t.Context()); !errors.Is(err, test.err) {
					t.Errorf("got %v, want %v", err, test.err)
				}
				if !slices.Equal(told, test.want) {
					t.Errorf("told %q, want %q", told, test.want)
				}
			})
		})
	}
}

// inMemory opens the buckets on their own server.
func inMemory(t *testing.T) *Buckets {
	t.Helper()
	c := must.Get(conn.New(storetest.Connect(t, storetest.Server(t)), conn.Config{Storage: jetstream.MemoryStorage}))(t)
	s := New(c)
	must.Do(t, errors.Join(c.Open(t.Context()), s.Open(t.Context())))
	return s
}
