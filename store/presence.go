package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
)

// Intervals of presence, in addition to the timeouts of [peers].
const (
	watchEvery  = pulseEvery / 2
	restAfter   = 2 * time.Second        // delay of saysRests, so that sporadic jobs cause few messages
	meetTimeout = time.Second            // for the initial request to itself
	askTimeout  = 500 * time.Millisecond // for the request whether a process is connected
)

// presence notifies the other processes of a store while this one holds batons or specs. It detects a holder that has
// vanished, so that its messages are redelivered before ackWait has passed (see [claim]). It stores nothing. Its
// subjects are below PREFIX.presence:
//
//	all       notices to all processes: [notice]
//	one.<id>  liveness requests; the server answers them if the process is not connected
//
// No notices are sent while no process holds a message. A process whose NATS user may not use these subjects runs
// without presence: its messages are redelivered after ackWait, and [Store.Check] lets the other processes know.
type presence struct {
	store *Store
	id    string
	works bool // the NATS user may use the subjects; set by open

	begun  chan struct{} // starts watching
	claims chan struct{} // requests a claim
	first  func()        // called before the first delivery

	delivering atomic.Int64 // number of queues

	mu     sync.Mutex
	peers  peers
	phases map[string]*phase // claims in progress, by claiming process
	held   time.Time         // last time that this process held a message
	pulsed time.Time         // last saysHolds
	told   bool              // the others believe that this process holds messages
}

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

func newPresence(s *Store) *presence {
	p := &presence{
		store: s, id: nuid.Next(), peers: peers{}, phases: map[string]*phase{},
		begun: make(chan struct{}, 1), claims: make(chan struct{}, 1),
	}
	p.first = sync.OnceFunc(func() { time.AfterFunc(patience, p.suspect) }) // all holders have been heard by then
	return p
}

// begin announces that delivery from a queue starts; end, that it has stopped.
func (p *presence) begin() {
	p.delivering.Add(1)
	p.first()
}

func (p *presence) end() {
	p.delivering.Add(-1)
	p.emptied()
}

// emptied is called when this process holds no message. If no deliveries follow, it sends saysRests immediately,
// because the process may exit before the next beat.
func (p *presence) emptied() {
	if p.delivering.Load() > 0 || p.store.leases.any() {
		return
	}
	p.mu.Lock()
	told := p.told
	p.told = false
	p.mu.Unlock()
	if told {
		p.say(notice{Says: saysRests})
	}
}

func (p *presence) subject(name string) string { return p.store.cfg.Prefix + ".presence." + name }

// open starts listening, until the connection is closed.
func (p *presence) open(ctx context.Context) error {
	nc := p.store.nc
	all, err := nc.Subscribe(p.subject("all"), p.hear)
	if err != nil {
		return translate(err)
	}
	one, err := nc.Subscribe(p.subject("one."+p.id), func(m *nats.Msg) { _ = m.Respond(nil) })
	if err != nil {
		return translate(err)
	}
	ctx, cancel := context.WithTimeout(ctx, meetTimeout)
	defer cancel()
	if _, err := nc.RequestWithContext(ctx, p.subject("one."+p.id), nil); err != nil {
		p.store.cfg.Logger.Warn("the NATS user may not tell of its presence; runs of a killed process are late by the time of a lease",
			"subject", p.subject(">"), "after", ackWait, "err", err)
		_, _ = all.Unsubscribe(), one.Unsubscribe()
		return nil
	}
	p.works = true
	go p.watch()    //nolint:contextcheck,nolintlint // they end with the connection
	go p.claiming() //nolint:contextcheck,gosec,nolintlint // as above
	return nil
}

// taken is called with the first lease.
func (p *presence) taken() { wake(p.begun) }

// suspect requests a claim, because a vanished process may hold messages.
func (p *presence) suspect() { wake(p.claims) }

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// watch sends notices and watches the other processes until the connection is closed. It never blocks for long.
func (p *presence) watch() {
	nc := p.store.nc
	status := nc.StatusChanged(nats.CONNECTED, nats.RECONNECTING, nats.CLOSED)
	defer nc.RemoveStatusListener(status)
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	tick.Stop()
	for !nc.IsClosed() {
		select {
		case <-p.begun:
			tick.Reset(watchEvery)
		case <-tick.C:
		case s := <-status:
			p.connection(s, time.Now())
			continue
		}
		if !p.beat(time.Now()) {
			tick.Stop() // until the next wake-up
		}
	}
}

// connection handles a change of the connection's status.
func (p *presence) connection(s nats.Status, now time.Time) {
	switch s { //nolint:exhaustive // what was asked for
	case nats.RECONNECTING:
		p.store.leases.disconnected(now)
	case nats.CONNECTED:
		p.store.leases.reconnected(now)
		p.mu.Lock()
		p.peers.reconnected(now)
		p.mu.Unlock()
		p.suspect() // messages on their way to this process were lost with the connection
	}
}

// beat sends due notices and liveness requests. It reports whether to continue watching.
func (p *presence) beat(now time.Time) bool {
	holds := p.store.leases.any()
	p.mu.Lock()
	if holds {
		p.held = now
	}
	says := ""
	switch {
	case !holds && p.told && now.Sub(p.held) >= restAfter:
		says, p.told = saysRests, false
	case (holds || p.told) && now.Sub(p.pulsed) >= pulseEvery-watchEvery/2:
		says, p.told, p.pulsed = saysHolds, true, now
	}
	ask, gone := p.peers.questions(now), p.peers.vanished()
	late := overstayed(p.phases, now)
	busy := holds || p.told || len(p.peers) > 0 || len(p.phases) > 0
	p.mu.Unlock()
	if says != "" {
		p.say(notice{Says: says})
	}
	for _, id := range ask {
		go p.ask(id)
	}
	if len(gone) > 0 {
		p.store.cfg.Logger.Warn("a process has vanished that held batons or specs; they are claimed", "ids", gone)
		p.suspect()
	}
	p.endure(now, late)
	return busy
}

// say sends a notice to all others. It is lost without a connection.
func (p *presence) say(n notice) {
	n.ID = p.id
	body, err := json.Marshal(n)
	if err == nil {
		err = p.store.nc.Publish(p.subject("all"), body)
	}
	if err != nil {
		p.store.cfg.Logger.Debug("presence not told", "says", n.Says, "err", err)
	}
}

// ask checks whether a silent process is connected.
func (p *presence) ask(id string) {
	_, err := p.store.nc.Request(p.subject("one."+id), nil, askTimeout)
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err == nil:
		p.peers.answered(id, now)
	case errors.Is(err, nats.ErrNoResponders):
		p.peers.missed(id, now)
	default:
		p.peers.waits(id)
	}
}

// hear handles a notice of another process.
func (p *presence) hear(m *nats.Msg) {
	var n notice
	if json.Unmarshal(m.Data, &n) != nil || n.ID == "" || n.ID == p.id {
		return
	}
	p.store.leases.share()
	switch n.Says {
	case saysHolds:
		p.store.publisher.other.hears(time.Now(), true)
		p.mu.Lock()
		p.peers.sign(n.ID, time.Now())
		p.mu.Unlock()
		wake(p.begun)
	case saysRests:
		p.mu.Lock()
		delete(p.peers, n.ID)
		p.store.publisher.other.hears(time.Now(), len(p.peers) > 0)
		p.mu.Unlock()
	case saysRenew:
		p.renew(n.ID, m)
	case saysDone:
		p.done(n)
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

// waits records a timeout. It proves nothing: the process is connected, but it or the network has stalled. [ackWait]
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
