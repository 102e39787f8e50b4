package store

import (
	"strconv"
	"sync"
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
	nc   *nats.Conn
	lost func(error) // one could not be renewed

	mu   sync.Mutex
	held map[place]*lease
	idle chan struct{} // closed when nothing is held any more; ends the goroutine
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

	reply   string    // of the last delivery; under the keeper's lock, as is renewed
	renewed time.Time // when the server last heard of it
}

var _ scheduler.Lease = (*lease)(nil)

// Ack removes the message from its stream.
func (l *lease) Ack() error { return l.keeper.end(l, "+ACK") }

// Nak lets another worker have the message at once (0) or after a while.
func (l *lease) Nak(after time.Duration) error {
	if after <= 0 {
		return l.keeper.end(l, "-NAK")
	}
	return l.keeper.end(l, `-NAK {"delay": `+strconv.FormatInt(int64(after), 10)+`}`)
}

// keep begins to renew the lease of a message.
func (k *leases) keep(at place, reply string) *lease {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.held) == 0 {
		k.held, k.idle = map[place]*lease{}, make(chan struct{})
		go k.renew(k.idle)
	}
	l := k.held[at]
	if l == nil {
		l = &lease{keeper: k, place: at}
		k.held[at] = l
	}
	l.reply, l.renewed = reply, time.Now()
	return l
}

// end answers for a message.
func (k *leases) end(l *lease, verb string) error {
	k.mu.Lock()
	reply := l.reply
	if k.held[l.place] == l {
		delete(k.held, l.place)
	}
	if len(k.held) == 0 && k.idle != nil {
		close(k.idle)
		k.idle = nil
	}
	k.mu.Unlock()
	return translate(k.nc.Publish(reply, []byte(verb)))
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
			for _, reply := range k.stale(now) {
				if err := k.nc.Publish(reply, []byte("+WPI")); err != nil {
					k.lost(err)
				}
			}
		case <-idle:
			return
		case <-closed:
			return
		}
	}
}

// stale returns where to renew the leases that are due, and counts them as
// renewed.
func (k *leases) stale(now time.Time) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var due []string
	age := renewAge(len(k.held))
	for _, l := range k.held {
		if now.Sub(l.renewed) >= age {
			l.renewed = now
			due = append(due, l.reply)
		}
	}
	return due
}
