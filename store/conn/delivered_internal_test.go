package conn

import (
	"testing"

	"github.com/nats-io/nats.go"
)

// FuzzDelivered compares readDelivered with the client library.
func FuzzDelivered(f *testing.F) {
	for _, seed := range []string{
		"$JS.ACK.CARILLON_TIMERS_0.workers.1.42.17.1700000000123456789.3", "$JS.ACK._.acc.S.c.2.5.6.7.8", "$JS.ACK.hub.acc.S.c.2.5.6.7.8.x",
		"$JS.ACK.hub.acc.S.c.2.5.6.7.8.x.y", "$JS.ACK.S.c.2.5.6.7", "$JS.ACK.S.c.2.5.6.7.8.9", "$JS.ACK.S.c.two.5.6.7.8",
		"$JS.ACK.S.c.-1.5.6.7.8", "$JS.ACK.S.c.1.99999999999999999999.6.7.8", "_INBOX.a.b", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		got, ok := ReadDelivered(reply)
		m := &nats.Msg{Reply: reply, Sub: &nats.Subscription{}}
		want, err := m.Metadata()
		if !ok {
			return
		}
		if err != nil || got.Stream != want.Stream || got.Sequence != want.Sequence.Stream ||
			got.Deliveries != int(want.NumDelivered) || !got.Stored.Equal(want.Timestamp) {
			t.Errorf("%q: got %+v, want %+v, %v", reply, got, want, err)
		}
	})
}

// TestDelivered lists valid and invalid acknowledgement subjects.
func TestDelivered(t *testing.T) {
	for reply, want := range map[string]bool{
		"$JS.ACK.S.c.1.42.17.1700000000123456789.3":               true,
		"$JS.ACK._.acc.S.c.1.42.17.1700000000123456789.3":         true,
		"$JS.ACK.hub.acc.S.c.1.42.17.1700000000123456789.3.x":     true,
		"$JS.ACK.hub.acc.S.c.1.42.17.1700000000123456789.3.x.new": true,
		"$JS.ACK.S.c.1.42.17.1700000000123456789":                 false,
		"$JS.ACK.acc.S.c.1.42.17.1700000000123456789.3":           false,
		"$JS.ACK.S.c.1.x.17.1700000000123456789.3":                false,
		"_INBOX.a": false,
		"":         false,
	} {
		d, ok := ReadDelivered(reply)
		if ok != want || ok && (d.Stream != "S" || d.Sequence != 42 || d.Deliveries != 1 || d.Stored.UnixNano() != 1700000000123456789) {
			t.Errorf("%q: got %+v, %t", reply, d, ok)
		}
	}
}
