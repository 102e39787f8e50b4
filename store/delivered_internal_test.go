package store

import (
	"hash/crc32"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/scheduler"
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
		got, ok := readDelivered(reply)
		m := &nats.Msg{Reply: reply, Sub: &nats.Subscription{}}
		want, err := m.Metadata()
		if !ok {
			return
		}
		if err != nil || got.stream != want.Stream || got.sequence != want.Sequence.Stream ||
			got.deliveries != int(want.NumDelivered) || !got.stored.Equal(want.Timestamp) {
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
		d, ok := readDelivered(reply)
		if ok != want || ok && (d.stream != "S" || d.sequence != 42 || d.deliveries != 1 || d.stored.UnixNano() != 1700000000123456789) {
			t.Errorf("%q: got %+v, %t", reply, d, ok)
		}
	}
}

// TestSlotOf parses baton subjects and rejects others.
func TestSlotOf(t *testing.T) {
	s := &Store{cfg: Config{Prefix: "a.b"}, lanes: 3}
	for _, slot := range []scheduler.Slot{own, {Key: own.Key, Detached: "d"}} {
		for _, subject := range []string{s.timerSubject(slot), s.fireSubject(slot)} {
			if got, ok := s.slotOf(subject); !ok || got != slot {
				t.Errorf("%s: got %+v, %t", subject, got, ok)
			}
		}
	}
	for _, subject := range []string{"a.b.timer.0.c", "a.b.timer.0.c.j.d.e", "a.fire.0.c.j", "a.bfire.0.c.j", ""} {
		if got, ok := s.slotOf(subject); ok {
			t.Errorf("%s: got %+v", subject, got)
		}
	}
}

// FuzzLane: the lane of a job never changes.
func FuzzLane(f *testing.F) {
	f.Add("default", "job")
	f.Fuzz(func(t *testing.T, collection, job string) {
		if got, want := crcOf(collection, ".", job), crc32.ChecksumIEEE([]byte(collection+"."+job)); got != want {
			t.Errorf("%q, %q: got %d, want %d", collection, job, got, want)
		}
	})
}

// TestCheapMessages limits allocations per message: one to create a subject, none to parse one.
func TestCheapMessages(t *testing.T) {
	s := &Store{cfg: Config{Prefix: DefaultPrefix}, lanes: 4}
	fire := s.fireSubject(own)
	for what, test := range map[string]struct {
		most float64
		do   func()
	}{
		"baton subject":   {1, func() { s.fireSubject(own) }},
		"history subject": {1, func() { s.historySubject(own.Key, scheduler.OutcomeCompleted) }},
		"slot":            {0, func() { s.slotOf(fire) }},
		"delivered":       {0, func() { readDelivered("$JS.ACK.S.c.1.42.17.1700000000123456789.3") }},
	} {
		if n := testing.AllocsPerRun(100, test.do); n > test.most {
			t.Errorf("%s: %v allocations, want %v", what, n, test.most)
		}
	}
}

var own = scheduler.Slot{Key: scheduler.Key{Collection: "collection", Job: "a-job-with-a-name"}}
