package store

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/scheduler"
)

// The rhythm of lease keeping. The server takes a message back when it hears
// nothing of it for ackWait.
const (
	renewEvery = time.Second
	renewAfter = 3 * time.Second

	// Who holds many renews each later, so that those are no more messages than
	// this in a second. The last moment leaves a process that stalls three seconds.
	renewRate = 10_000
	renewLast = 6 * time.Second
)

// renewAge is how long after the server last heard of a lease it is renewed, when
// so many are held.
func renewAge(held int) time.Duration {
	return min(max(renewAfter, time.Duration(held)*time.Second/renewRate), renewLast)
}

// leases keeps the messages that this process has: it renews each until it was
// answered for. One that is delivered again while it is kept, as after the
// connection was lost for long, has the lease that it had. There is a goroutine
// while there are any.
type leases struct {
	nc      *nats.Conn
	lost    func(error)               // leases cannot be renewed; called once, until they are again
	renewed func(after time.Duration) // they are renewed again
	taken   func()                    // the first lease is held; nil, like emptied: no callback
	emptied func()                    // nothing is held any more
	dropped func()                    // something was let go without a word; only when shared
	cut     func() bool               // reports that other processes may consider this one dead; nil: never

	mu     sync.Mutex
	held   map[place]*lease
	idle   chan struct{} // closed when nothing is held any more; ends the goroutine
	shared bool          // other processes take messages of the same consumers
	apart  time.Time     // since when there is no connection; zero: there is one
	failed time.Time     // since when leases are not renewed; zero: they are
}

// place is where a message lies.
type place struct {
	stream   string
	sequence uint64
}

// lease answers for one delivered message.
type lease struct {
	keeper *leases
	place  place

	reply   string    // of the last delivery; under the keeper's lock, as is the rest
	kept    time.Time // when that came
	renewed time.Time // when the server last heard of it
	doubted bool      // others may have been given the message since
	joined  bool      // it came again while it was kept
	refused bool      // the last delivery is nobody's, see Yield
}

var _ scheduler.Lease = (*lease)(nil)

// What the server is told of a message.
var (
	ackVerb   = []byte("+ACK")
	nakVerb   = []byte("-NAK")
	renewVerb = []byte("+WPI")
)

// Ack removes the message from its stream.
func (l *lease) Ack() error { return l.keeper.end(l, ackVerb) }

// Nak lets another worker have the message at once (0) or after a while.
func (l *lease) Nak(after time.Duration) error {
	if after <= 0 {
		return l.keeper.end(l, nakVerb)
	}
	return l.keeper.end(l, fmt.Appendf(nil, `-NAK {"delay": %d}`, int64(after)))
}

// Stands reports whether the message is this process's still, for all that is
// known.
func (l *lease) Stands() bool {
	k := l.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	if k.overdue(l, now) || k.shared && (k.away(now) || k.cut != nil && k.cut()) {
		l.doubted = true
	}
	return !l.doubted
}

// Drop ends a lease that does not stand, without a word to the server, so that
// whoever has the message keeps it; when nobody has it, it is given out again.
// One that stands, since the message has come again meanwhile and another run has
// it, is left alone.
func (l *lease) Drop() {
	k := l.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	if (l.doubted || l.refused) && k.held[l.place] == l {
		k.forget(l)
		k.dropped()
	}
}

// Yield ends a lease that came with the last delivery alone. That of a message
// which is kept already is its run's, and goes on, unless that drops it.
func (l *lease) Yield() {
	k := l.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	if l.joined {
		l.refused = true
		return
	}
	k.forget(l)
	if k.dropped != nil {
		k.dropped()
	}
}

// holds reports whether a message is in the hands of this process.
func (k *leases) holds(at place) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.held[at] != nil
}

// keep begins to renew the lease of a message.
func (k *leases) keep(at place, reply string) *lease {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.held) == 0 {
		k.held, k.idle = map[place]*lease{}, make(chan struct{})
		go k.renew(k.idle)
		if k.taken != nil {
			k.taken()
		}
	}
	l := k.held[at]
	if l == nil {
		l = &lease{keeper: k, place: at}
		k.held[at] = l
	} else {
		l.joined = true
	}
	now := time.Now()
	l.reply, l.kept, l.renewed, l.doubted, l.refused = reply, now, now, false, false
	return l
}

// end answers for a message.
func (k *leases) end(l *lease, verb []byte) error {
	k.mu.Lock()
	reply := l.reply
	k.forget(l)
	last := len(k.held) == 0
	k.mu.Unlock()
	err := k.nc.Publish(reply, verb)
	if last && k.emptied != nil {
		k.emptied()
	}
	return translate(err)
}

// forget renews l no more. The lock is held.
func (k *leases) forget(l *lease) {
	if k.held[l.place] == l {
		delete(k.held, l.place)
	}
	if len(k.held) == 0 && k.idle != nil {
		close(k.idle)
		k.idle = nil
	}
}

// renew tells the server of the messages that are still being worked on, until
// there are none, or the connection is closed for good.
func (k *leases) renew(idle <-chan struct{}) {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	closed := k.nc.StatusChanged(nats.CLOSED)
	defer k.nc.RemoveStatusListener(closed)
	for !k.nc.IsClosed() {
		select {
		case now := <-tick.C:
			k.renewStale(now, renewAge(k.size()))
		case <-idle:
			return
		case <-closed:
			return
		}
	}
}

// renewStale renews the leases that the server has not heard of for so long.
func (k *leases) renewStale(now time.Time, age time.Duration) {
	due := k.stale(now, age)
	for i, r := range due {
		if err := k.nc.Publish(r.reply, renewVerb); err != nil {
			if k.notRenewed(due[i:], now) {
				k.lost(err)
			}
			return
		}
	}
	k.mu.Lock()
	since := k.failed
	k.failed = time.Time{}
	k.mu.Unlock()
	if !since.IsZero() {
		k.renewed(now.Sub(since))
	}
}

// renewal is a lease that is about to be renewed.
type renewal struct {
	lease  *lease
	reply  string
	before time.Time // when it was renewed last
}

// stale returns the leases that are due, and counts them as renewed.
func (k *leases) stale(now time.Time, age time.Duration) []renewal {
	k.mu.Lock()
	defer k.mu.Unlock()
	var due []renewal
	for _, l := range k.held {
		if now.Sub(l.renewed) < age {
			continue
		}
		if k.overdue(l, now) {
			l.doubted = true
		}
		due = append(due, renewal{l, l.reply, l.renewed})
		l.renewed = now
	}
	return due
}

// notRenewed restores the times of leases that could not be renewed, and reports whether they are the first ones.
func (k *leases) notRenewed(failed []renewal, now time.Time) (first bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range failed {
		if r.reply == r.lease.reply { // not delivered again meanwhile
			r.lease.renewed = r.before
		}
	}
	if first = k.failed.IsZero(); first {
		k.failed = now
	}
	return first
}

// overdue reports whether the server may have run out of patience with l, and
// there is somebody else to give the message to. The lock is held.
func (k *leases) overdue(l *lease, now time.Time) bool {
	return k.shared && now.Sub(l.renewed) >= ackWait-renewEvery
}

// away reports whether there has been no connection for so long that others may
// take this process for one that has vanished. The lock is held.
func (k *leases) away(now time.Time) bool {
	return !k.apart.IsZero() && now.Sub(k.apart) >= patience-pulseEvery
}

// share notes that there are other processes.
func (k *leases) share() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.shared = true
}

// disconnected and reconnected note that the connection was lost, and is back.
func (k *leases) disconnected(now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.apart = now
}

func (k *leases) reconnected(now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.shared && k.away(now) {
		for _, l := range k.held {
			l.doubted = true
		}
	}
	k.apart = time.Time{}
}

// doubt notes that others may have been given what was delivered before.
func (k *leases) doubt(before time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, l := range k.held {
		if l.kept.Before(before) {
			l.doubted = true
		}
	}
}

// any reports whether anything is held.
func (k *leases) any() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.held) > 0
}

// size is how many messages are held.
func (k *leases) size() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.held)
}

// count returns how many messages of each stream are held, without doubt.
func (k *leases) count() map[string]int {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := map[string]int{}
	for at, l := range k.held {
		if !l.doubted {
			n[at.stream]++
		}
	}
	return n
}

// stall tells when this process has stood still, as one that is suspended does. What
// comes just then has lain in the connection meanwhile, and others may have been
// given it since.
type stall struct {
	beats atomic.Int64 // the last beat, in Unix nanoseconds; 0: none yet
	over  atomic.Int64 // until when what comes may be old
}

// A process that is only busy misses a beat by less than stallLeast; what lay in
// the connection is read within stallTail.
const (
	stallBeat  = time.Second
	stallLeast = 3 * time.Second
	stallTail  = 2 * time.Second
)

// beat is called every stallBeat, and before anything that comes is looked at.
func (s *stall) beat(now time.Time) {
	if last := s.beats.Swap(now.UnixNano()); last != 0 && now.UnixNano()-last > int64(stallLeast) {
		s.over.Store(now.Add(stallTail).UnixNano())
	}
}

// old reports whether what comes now may have lain in the connection for long.
func (s *stall) old(now time.Time) bool {
	s.beat(now)
	return now.UnixNano() < s.over.Load()
}
