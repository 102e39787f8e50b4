package failover

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
)

// Intervals of presence, in addition to the timeouts of [peers].
const (
	watchEvery  = pulseEvery / 2
	restAfter   = 2 * time.Second        // delay of saysRests, so that sporadic jobs cause few messages
	meetTimeout = time.Second            // for the initial request to itself
	askTimeout  = 500 * time.Millisecond // for the request whether a process is connected
)

// notice is a message from one process to all others.
type notice struct {
	ID   string `json:"id"`
	Says string `json:"says"`

	Short    bool     `json:"short,omitempty"`    // with saysDone: the ack wait was shortened
	Answered []string `json:"answered,omitempty"` // the processes that had renewed their leases before
}

// Kinds of notices.
const (
	saysHolds = "holds" // the sender holds batons or specs
	saysRests = "rests" // the sender holds none
	saysRenew = "renew" // renew all leases now and reply; the ack wait becomes short
	saysDone  = "done"  // the ack wait is restored
)

// tally is the reply to saysRenew.
type tally struct {
	ID   string         `json:"id"`
	Held map[string]int `json:"held"` // number of messages by stream
}

// Begin announces that delivery from a queue starts; End, that it has stopped.
func (f *Failover) Begin() {
	f.delivering.Add(1)
	f.first()
}

// End is the counterpart of Begin.
func (f *Failover) End() {
	f.delivering.Add(-1)
	f.emptied()
}

// emptied is called when this process holds no message. If no deliveries follow, it sends saysRests immediately,
// because the process may exit before the next beat.
func (f *Failover) emptied() {
	if f.delivering.Load() > 0 || f.leases.any() {
		return
	}
	f.mu.Lock()
	told := f.told
	f.told = false
	f.mu.Unlock()
	if told {
		f.broadcast(notice{Says: saysRests})
	}
}

func (f *Failover) subject(name string) string { return f.cfg.Prefix + ".presence." + name }

// Open starts listening, until the connection is closed.
func (f *Failover) Open(ctx context.Context) error {
	nc := f.cfg.Conn
	all, err := nc.Subscribe(f.subject("all"), f.hear)
	if err != nil {
		return err
	}
	one, err := nc.Subscribe(f.subject("one."+f.id), func(m *nats.Msg) { _ = m.Respond(nil) })
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, meetTimeout)
	defer cancel()
	if _, err := nc.RequestWithContext(ctx, f.subject("one."+f.id), nil); err != nil {
		f.cfg.Logger.Warn("the NATS user has no permission to announce its presence: runs of a killed process start late, by the ack wait",
			"subject", f.subject(">"), "after", AckWait, "err", err)
		_, _ = all.Unsubscribe(), one.Unsubscribe()
		return nil
	}
	f.works = true
	go f.watch()    //nolint:contextcheck,nolintlint // they end with the connection
	go f.claiming() //nolint:contextcheck,gosec,nolintlint // as above
	return nil
}

// suspect requests a claim, because a vanished process may hold messages.
func (f *Failover) suspect() { wake(f.claims) }

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// watch sends notices and watches the other processes until the connection is closed. It never blocks for long.
func (f *Failover) watch() {
	nc := f.cfg.Conn
	status := nc.StatusChanged(nats.CONNECTED, nats.RECONNECTING, nats.CLOSED)
	defer nc.RemoveStatusListener(status)
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	tick.Stop()
	for !nc.IsClosed() {
		select {
		case <-f.begun:
			tick.Reset(watchEvery)
		case <-tick.C:
		case s := <-status:
			f.connection(s, time.Now())
			continue
		}
		if !f.beat(time.Now()) {
			tick.Stop() // until the next wake-up
		}
	}
}

// connection handles a change of the connection's status.
func (f *Failover) connection(s nats.Status, now time.Time) {
	switch s { //nolint:exhaustive // what was asked for
	case nats.RECONNECTING:
		f.leases.disconnected(now)
	case nats.CONNECTED:
		f.leases.reconnected(now)
		f.mu.Lock()
		f.peers.reconnected(now)
		f.mu.Unlock()
		f.suspect() // messages on their way to this process were lost with the connection
	}
}

// beat sends due notices and liveness requests. It reports whether to continue watching.
func (f *Failover) beat(now time.Time) bool {
	holds := f.leases.any()
	f.mu.Lock()
	if holds {
		f.held = now
	}
	says := ""
	switch {
	case !holds && f.told && now.Sub(f.held) >= restAfter:
		says, f.told = saysRests, false
	case (holds || f.told) && now.Sub(f.pulsed) >= pulseEvery-watchEvery/2:
		says, f.told, f.pulsed = saysHolds, true, now
	}
	ask, gone := f.peers.questions(now), f.peers.vanished()
	late := overstayed(f.phases, now)
	busy := holds || f.told || len(f.peers) > 0 || len(f.phases) > 0
	f.mu.Unlock()
	if says != "" {
		f.broadcast(notice{Says: says})
	}
	for _, id := range ask {
		go f.ask(id)
	}
	if len(gone) > 0 {
		f.cfg.Logger.Warn("a process that held batons or specs disappeared; claiming them", "ids", gone)
		f.suspect()
	}
	f.endure(now, late)
	return busy
}

// broadcast sends a notice to all others. It is lost without a connection.
func (f *Failover) broadcast(n notice) {
	n.ID = f.id
	body, err := json.Marshal(n)
	if err == nil {
		err = f.cfg.Conn.Publish(f.subject("all"), body)
	}
	if err != nil {
		f.cfg.Logger.Debug("presence not announced", "says", n.Says, "err", err)
	}
}

// ask checks whether a silent process is connected.
func (f *Failover) ask(id string) {
	_, err := f.cfg.Conn.Request(f.subject("one."+id), nil, askTimeout)
	now := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case err == nil:
		f.peers.answered(id, now)
	case errors.Is(err, nats.ErrNoResponders):
		f.peers.missed(id, now)
	default:
		f.peers.waits(id)
	}
}

// hear handles a notice of another process.
func (f *Failover) hear(m *nats.Msg) {
	var n notice
	if json.Unmarshal(m.Data, &n) != nil || n.ID == "" || n.ID == f.id {
		return
	}
	f.leases.share()
	switch n.Says {
	case saysHolds:
		f.hears(time.Now(), true)
		f.mu.Lock()
		f.peers.sign(n.ID, time.Now())
		f.mu.Unlock()
		wake(f.begun)
	case saysRests:
		f.mu.Lock()
		delete(f.peers, n.ID)
		f.hears(time.Now(), len(f.peers) > 0)
		f.mu.Unlock()
	case saysRenew:
		f.renew(n.ID, m)
	case saysDone:
		f.done(n)
	}
}

// Timeouts for other processes. They rely on this: a killed process loses its connection immediately, and the server
// reports that to a request; a slow process stays connected and answers late.
const (
	pulseEvery = 500 * time.Millisecond // interval of saysHolds
	askAfter   = time.Second            // silence after which a process is asked
	patience   = 1500 * time.Millisecond
	graceAfter = 3 * time.Second // after a reconnect: others may need longer
)

// peers holds the other processes that hold batons or specs. It has no clock and no goroutine.
type peers map[string]peer

// peer is another process that holds messages.
type peer struct {
	heard  time.Time // last sign of life
	absent time.Time // last time the server reported it as disconnected; zero: connected, or never asked
	asking bool      // a request is in progress
}

// sign records a sign of life.
func (p peers) sign(id string, now time.Time) { p[id] = peer{heard: now} }

// answered records a reply. Like the next two methods, it ignores a process that has since announced that it holds
// nothing.
func (p peers) answered(id string, now time.Time) {
	if _, known := p[id]; known {
		p.sign(id, now)
	}
}

// missed records that the process is not connected.
func (p peers) missed(id string, now time.Time) {
	if at, known := p[id]; known {
		p[id] = peer{heard: at.heard, absent: now}
	}
}

// waits records a timeout. It proves nothing: the process is connected, but it or the network has stalled. [AckWait]
// covers this case.
func (p peers) waits(id string) {
	if at, known := p[id]; known {
		at.asking = false
		p[id] = at
	}
}

// reconnected gives the others time to reconnect as well.
func (p peers) reconnected(now time.Time) {
	for id := range p {
		p[id] = peer{heard: now.Add(graceAfter - patience)}
	}
}

// questions returns the processes to ask, sorted, and marks them as asked.
func (p peers) questions(now time.Time) []string {
	var ids []string
	for id, at := range p {
		if !at.asking && now.Sub(at.heard) >= askAfter {
			at.asking = true
			p[id] = at
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// vanished removes and returns the processes that have been silent for patience and were then disconnected.
func (p peers) vanished() []string {
	var ids []string
	for id, at := range p {
		if at.absent.Sub(at.heard) >= patience {
			delete(p, id)
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
