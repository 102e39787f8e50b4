package failover

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/scheduler"
)

// Intervals of lease renewal. The server redelivers a message after AckWait without a renewal.
const (
	renewEvery = time.Second
	renewAfter = 3 * time.Second

	// With many leases, each is renewed later, to limit the rate of renewals per second. renewLast leaves a stalled
	// process three seconds.
	renewRate = 10_000
	renewLast = 6 * time.Second
)

// LeastLeft is the least time that is left of a lease when its process is suspended.
const LeastLeft = AckWait - renewLast - renewEvery

// renewAge returns the age at which a lease is renewed, given the number of leases.
func renewAge(held int) time.Duration {
	return min(max(renewAfter, time.Duration(held)*time.Second/renewRate), renewLast)
}

// leases renews the lease of every message that this process holds until the message is acknowledged or released. A
// message that is redelivered while it is held, for example after a long disconnect, keeps its lease. A goroutine runs
// while any lease is held.
type leases struct {
	nc      *nats.Conn
	lost    func(error)               // called once when renewal starts to fail
	renewed func(after time.Duration) // called when renewal works again
	taken   func()                    // the first lease was taken; nil, like emptied: no callback
	emptied func()                    // the last lease has ended
	dropped func()                    // a lease was dropped without notice to the server; only if shared
	cut     func() bool               // reports that other processes may consider this one dead; nil: never

	mu     sync.Mutex
	held   map[place]*lease
	idle   chan struct{} // closed with the last lease; ends the goroutine
	shared bool          // other processes use the same consumers
	apart  time.Time     // start of the disconnect; zero: connected
	failed time.Time     // start of failing renewals; zero: none fail
}

// place identifies a message in a stream.
type place struct {
	stream   string
	sequence uint64
}

// lease is the lease of a delivered message.
type lease struct {
	keeper *leases
	place  place

	reply   string    // of the last delivery; guarded by keeper.mu, like the fields below
	kept    time.Time // time of the last delivery
	renewed time.Time // last renewal
	doubted bool      // the message may have been redelivered to another process
	joined  bool      // redelivered while it was held
	refused bool      // the last delivery was refused; see Yield
}

var _ scheduler.Lease = (*lease)(nil)

// Payloads of acknowledgements.
var (
	ackVerb   = []byte("+ACK")
	nakVerb   = []byte("-NAK")
	renewVerb = []byte("+WPI")
)

// Ack removes the message from its stream.
func (l *lease) Ack() error { return l.keeper.end(l, ackVerb) }

// Nak releases the message to another worker, immediately (0) or after a delay.
func (l *lease) Nak(after time.Duration) error {
	if after <= 0 {
		return l.keeper.end(l, nakVerb)
	}
	return l.keeper.end(l, fmt.Appendf(nil, `-NAK {"delay": %d}`, int64(after)))
}

// Stands reports whether this process still holds the message, as far as it knows.
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

// Drop ends a lease that does not stand, without notice to the server: another process may hold the message; otherwise
// the server redelivers it. Drop ignores a lease that stands, because the message has been redelivered to this process
// and another run uses it.
func (l *lease) Drop() {
	k := l.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	if (l.doubted || l.refused) && k.held[l.place] == l {
		k.forget(l)
		k.dropped()
	}
}

// Yield ends the lease of the last delivery without notice to the server. If the message was already held, the lease
// belongs to the earlier run and continues, unless that run drops it.
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

// holds reports whether this process holds a message.
func (k *leases) holds(at place) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.held[at] != nil
}

// keep starts to renew the lease of a delivered message.
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

// end acknowledges or releases a message.
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
	if err != nil {
		return fmt.Errorf("%w: %w", scheduler.ErrUnavailable, err)
	}
	return nil
}

// forget stops renewing l. The caller holds mu.
func (k *leases) forget(l *lease) {
	if k.held[l.place] == l {
		delete(k.held, l.place)
	}
	if len(k.held) == 0 && k.idle != nil {
		close(k.idle)
		k.idle = nil
	}
}

// renew renews leases until none remain or the connection is closed permanently.
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

// renewStale renews the leases that are at least as old as age.
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

// renewal is a lease to be renewed.
type renewal struct {
	lease  *lease
	reply  string
	before time.Time // previous renewal
}

// stale returns the leases that are due for renewal, and marks them as renewed.
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

// notRenewed restores the renewal times of leases whose renewal failed. It reports whether this is the first failure.
func (k *leases) notRenewed(failed []renewal, now time.Time) (first bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range failed {
		if r.reply == r.lease.reply { // not redelivered in the meantime
			r.lease.renewed = r.before
		}
	}
	if first = k.failed.IsZero(); first {
		k.failed = now
	}
	return first
}

// overdue reports whether the server may have redelivered l to another process. The caller holds mu.
func (k *leases) overdue(l *lease, now time.Time) bool {
	return k.shared && now.Sub(l.renewed) >= AckWait-renewEvery
}

// away reports whether the disconnect has lasted so long that other processes may consider this one vanished. The
// caller holds mu.
func (k *leases) away(now time.Time) bool {
	return !k.apart.IsZero() && now.Sub(k.apart) >= patience-pulseEvery
}

// share records that other processes exist.
func (k *leases) share() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.shared = true
}

// disconnected and reconnected record connection changes.
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

// doubt marks the messages delivered before a time as possibly redelivered to others.
func (k *leases) doubt(before time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, l := range k.held {
		if l.kept.Before(before) {
			l.doubted = true
		}
	}
}

// any reports whether any lease is held.
func (k *leases) any() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.held) > 0
}

// size returns the number of leases.
func (k *leases) size() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.held)
}

// count returns the number of undoubted leases by stream.
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

// stall detects that the process was suspended. Messages that arrive just afterwards may have waited in the connection,
// and the server may have redelivered them to others.
type stall struct {
	beats atomic.Int64 // last beat, in Unix nanoseconds; 0: none
	over  atomic.Int64 // until when messages may be old
}

// A busy process delays a beat by less than stallLeast. Messages that waited in the connection are read within
// stallTail.
const (
	StallBeat  = time.Second
	stallLeast = 3 * time.Second
	stallTail  = 2 * time.Second
)

// Beat must be called every StallBeat, and before a message is handled.
func (s *stall) Beat(now time.Time) {
	if last := s.beats.Swap(now.UnixNano()); last != 0 && now.UnixNano()-last > int64(stallLeast) {
		s.over.Store(now.Add(stallTail).UnixNano())
	}
}

// Old reports whether a message that arrives now may have waited in the connection.
func (s *stall) Old(now time.Time) bool {
	s.Beat(now)
	return now.UnixNano() < s.over.Load()
}
