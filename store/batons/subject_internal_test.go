package batons

import (
	"hash/crc32"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/conn"
	"github.com/carillon-sched/carillon/store/history"
)

// TestSlotOf parses baton subjects and rejects others.
func TestSlotOf(t *testing.T) {
	s := &Batons{conn: &conn.Conn{Config: conn.Config{Prefix: "a.b"}}, lanes: 3}
	for _, slot := range []scheduler.BatonKey{own, {Key: own.Key, Detached: "d"}} {
		for _, subject := range []string{s.TimerSubject(slot), s.FireSubject(slot)} {
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
	s := &Batons{conn: &conn.Conn{Config: conn.Config{Prefix: conn.DefaultPrefix}}, lanes: 4}
	h, fire := history.New(s.conn), s.FireSubject(own)
	for what, test := range map[string]struct {
		most float64
		do   func()
	}{
		"baton subject":   {1, func() { s.FireSubject(own) }},
		"history subject": {1, func() { h.HistorySubject(own.Key, scheduler.OutcomeCompleted) }},
		"slot":            {0, func() { s.slotOf(fire) }},
		"delivered":       {0, func() { conn.ReadDelivered("$JS.ACK.S.c.1.42.17.1700000000123456789.3") }},
	} {
		if n := testing.AllocsPerRun(100, test.do); n > test.most {
			t.Errorf("%s: %v allocations, want %v", what, n, test.most)
		}
	}
}

var own = scheduler.BatonKey{Key: scheduler.Key{Collection: "collection", Job: "a-job-with-a-name"}}
