package failover

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// TestLeaseOfARepetition: a message that is redelivered to its holder keeps its lease. Dropping the redelivery leaves
// nothing that would be renewed forever and withheld from other processes.
func TestLeaseOfARepetition(t *testing.T) {
	storetest.Test(t, func(t *testing.T) {
		nc := storetest.Connect(t, storetest.Server(t))
		heard := make(chan *nats.Msg, 100)
		must.Get(nc.ChanSubscribe("answer.*", heard))(t)
		// told returns the last acknowledgement per subject that the server receives within d.
		told := func(d time.Duration) map[string]string {
			time.Sleep(d)
			words := map[string]string{}
			for len(heard) > 0 {
				m := <-heard
				words[m.Subject] = string(m.Data)
			}
			return words
		}
		k := &leases{nc: nc, lost: func(err error) { t.Error(err) }}
		at, other := place{"S", 1}, place{"S", 2}
		first := k.keep(at, "answer.first")
		again := k.keep(at, "answer.again")
		beside := k.keep(other, "answer.beside")
		if first != again || first == beside {
			t.Fatal("the repetition has a lease of its own, or another message has the same")
		}
		if !k.holds(at) || !k.holds(other) || k.holds(place{"S", 3}) || k.holds(place{"T", 1}) {
			t.Error("it is wrong about what it holds: a baton that is held is not undelivered")
		}
		if got := told(10 * time.Second); len(got) != 2 || got["answer.again"] != "+WPI" || got["answer.beside"] != "+WPI" {
			t.Errorf("while both are held: %v", got)
		}
		must.Do(t, first.Nak(0))
		if got := told(10 * time.Second); got["answer.again"] != "-NAK" || got["answer.beside"] != "+WPI" {
			t.Errorf("when one was given up: %v", got)
		}
		if got := told(10 * time.Second); len(got) != 1 {
			t.Errorf("afterwards: %v", got)
		}
		must.Do(t, beside.Ack())
		if k.holds(at) || k.holds(other) {
			t.Error("it holds what was given up")
		}
	})
}

// TestLeaseOfWhatIsKnown: a message that is redelivered while its run ends leaves no lease, which would be renewed
// until the process exits. The lease of an active run continues.
func TestLeaseOfWhatIsKnown(t *testing.T) {
	again := 0
	k := &leases{nc: &nats.Conn{}, dropped: func() { again++ }}
	at := place{"S", 1}
	run := k.keep(at, "answer.1")
	k.keep(at, "answer.2").Yield()
	if !k.any() || !run.Stands() || again != 0 {
		t.Error("the lease of a run ended with a repetition")
	}
	run.doubted = true
	if run.Stands() {
		t.Error("a lease in doubt stands")
	}
	k.keep(at, "answer.3").Yield() // before its run has ended
	run.Drop()
	if k.any() || again != 1 {
		t.Errorf("a lease is left that no run has, and %d were let go, want 1", again)
	}
	k.keep(at, "answer.4").Yield() // after the message was acknowledged
	if k.any() || again != 2 {
		t.Errorf("a lease is left that is nobody's, and %d were let go, want 2", again)
	}
}

// TestDropOfARepetition: a doubted lease whose message has been redelivered to this process is not dropped and must be
// renewed.
func TestDropOfARepetition(t *testing.T) {
	storetest.Test(t, func(t *testing.T) {
		nc := storetest.Connect(t, storetest.Server(t))
		dropped := 0
		k := &leases{nc: nc, lost: func(err error) { t.Error(err) }, dropped: func() { dropped++ }, shared: true}
		l := k.keep(place{"S", 1}, "answer.first")
		time.Sleep(time.Millisecond)
		k.doubt(time.Now())
		if l.Stands() {
			t.Error("a lease in doubt stands")
		}
		k.keep(place{"S", 1}, "answer.again")
		l.Drop()
		if !l.Stands() || !k.any() || dropped != 0 {
			t.Errorf("its message came again: stands %t, held %t, dropped %d", l.Stands(), k.any(), dropped)
		}
		time.Sleep(time.Millisecond)
		k.doubt(time.Now())
		l.Drop()
		if k.any() || dropped != 1 {
			t.Errorf("held %t, dropped %d", k.any(), dropped)
		}
	})
}

// TestLeasesNotRenewed disconnects for a minute, which logs one line at the start and one at the end.
func TestLeasesNotRenewed(t *testing.T) {
	storetest.Test(t, func(t *testing.T) {
		s := storetest.Server(t)
		closed, open := storetest.Connect(t, s), storetest.Connect(t, s)
		closed.Close()
		lost, renewed := 0, []time.Duration{}
		k := &leases{
			nc: closed, lost: func(error) { lost++ }, renewed: func(after time.Duration) { renewed = append(renewed, after) },
			held: map[place]*lease{{"S", 1}: {reply: "answer"}},
		}
		look := func(times int) {
			for range times {
				k.renewStale(time.Now(), 0)
				time.Sleep(time.Second)
			}
		}
		look(60)
		if lost != 1 || len(renewed) != 0 {
			t.Errorf("during the outage: lost %d times, renewed after %v", lost, renewed)
		}
		k.nc = open
		look(10)
		if lost != 1 || len(renewed) != 1 || renewed[0] != time.Minute {
			t.Errorf("after the outage: lost %d times, renewed after %v", lost, renewed)
		}
	})
}

// TestRenewAge: with more leases, each is renewed later, which limits the rate, but always 3 s before the ack wait
// ends, including the second between two checks.
func TestRenewAge(t *testing.T) {
	for held, want := range map[int]time.Duration{
		1: 3 * time.Second, 30_000: 3 * time.Second, 45_000: 4500 * time.Millisecond, 60_000: 6 * time.Second, 1_000_000: 6 * time.Second,
	} {
		got := renewAge(held)
		if got != want || got+renewEvery > AckWait-3*time.Second {
			t.Errorf("%d held: renewed after %s, want %s", held, got, want)
		}
	}
}
