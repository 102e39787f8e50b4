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

// The rhythm of presence, beside that of [peers].
const (
	watchEvery  = pulseEvery / 2
	restAfter   = 2 * time.Second        // of holding nothing it is said; jobs that come one by one need no word each
	meetTimeout = time.Second            // for the first question, which a process asks itself
	askTimeout  = 500 * time.Millisecond // for the question whether another is there
)

// presence tells the other processes of a store that this one holds batons or
// specs, and notices when one that did has vanished, so that they are given out again
// before the server's own patience ends (see [claim]). Nothing is stored: the
// subjects are below PREFIX.presence.
//
//	all       what a process says to all others: a [notice]
//	one.<id>  whether it is there; the server answers itself when it is not
//
// Nothing is said while nobody holds anything. A process whose user may not use
// these subjects goes without: what it held waits for the server's patience,
// and it lets the others know that there is one like it (see [Store.Check]).
type presence struct {
	store *Store
	id    string
	works bool // the NATS user may use the subjects; set at open

	begun  chan struct{} // there is something to watch
	claims chan struct{} // something may lie with a process that has vanished
	first  func()        // some are about to be delivered

	delivering atomic.Int64 // queues

	mu     sync.Mutex
	peers  peers
	phases map[string]*phase // claims under way, by who claims
	held   time.Time         // when something was held here last
	pulsed time.Time         // when the others were told so
	told   bool              // the others think that something is
}

// notice is what one process says to all others.
type notice struct {
	ID   string `json:"id"`
	Says string `json:"says"`

	Short    bool     `json:"short,omitempty"`    // with saysDone: leases were short
	Answered []string `json:"answered,omitempty"` // and these had renewed them before
}

// What a notice says.
const (
	saysHolds = "holds" // batons or specs
	saysRests = "rests" // it holds none
	saysRenew = "renew" // all leases, at once, and answer: they become short
	saysDone  = "done"  // they are as long as ever
)

// tally answers saysRenew.
type tally struct {
	ID   string         `json:"id"`
	Held map[string]int `json:"held"` // messages, by stream
}

func newPresence(s *Store) *presence {
	p := &presence{
		store: s, id: nuid.Next(), peers: peers{}, phases: map[string]*phase{},
		begun: make(chan struct{}, 1), claims: make(chan struct{}, 1),
	}
	p.first = sync.OnceFunc(func() { time.AfterFunc(patience, p.suspect) }) // who holds something has been heard by then
	return p
}

// begin says that messages of a queue are about to be delivered, and end that they are not any more.
func (p *presence) begin() {
	p.delivering.Add(1)
	p.first()
}

func (p *presence) end() {
	p.delivering.Add(-1)
	p.emptied()
}

// emptied is told that nothing is held any more. One that stops says so at once: it may be gone before the next beat.
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

// open begins to listen, until the connection is closed.
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

// taken says that something is held after there was nothing.
func (p *presence) taken() { wake(p.begun) }

// suspect says that something may lie with a process that has vanished.
func (p *presence) suspect() { wake(p.claims) }

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// watch tells the others what they need to know, and watches them, until the
// connection is closed. It does nothing that takes time.
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
			tick.Stop() // until something begins
		}
	}
}

// connection notes what became of the connection.
func (p *presence) connection(s nats.Status, now time.Time) {
	switch s { //nolint:exhaustive // what was asked for
	case nats.RECONNECTING:
		p.store.leases.disconnected(now)
	case nats.CONNECTED:
		p.store.leases.reconnected(now)
		p.mu.Lock()
		p.peers.reconnected(now)
		p.mu.Unlock()
		p.suspect() // what was on its way to this process is lost with the connection
	}
}

// beat says what is to be said, asks who is to be asked, and reports whether
// there is anything to watch.
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

// say tells something to all others. Without connection they are not told.
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

// ask finds out whether a process is there that has been silent.
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

// hear takes what another process says.
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

// The patience with other processes. What the numbers rest on: a process that is
// killed loses its connection at once, which the server tells whoever asks for
// it; one that is only slow keeps its connection, and answers late.
const (
	pulseEvery = 500 * time.Millisecond // how often one that holds something says so
	askAfter   = time.Second            // of silence it is asked whether it is there
	patience   = 1500 * time.Millisecond
	graceAfter = 3 * time.Second // our own reconnect: others may need longer for theirs
)

// peers is what a process knows of the others that hold batons or specs. It is told the
// time, and does nothing by itself.
type peers map[string]peer

// peer is another process that holds something.
type peer struct {
	heard  time.Time // its last sign of life
	absent time.Time // when the server said last that it is not connected; zero: it is, or was not asked for
	asking bool      // the answer is still out
}

// sign notes a sign of life of a process that holds something.
func (p peers) sign(id string, now time.Time) { p[id] = peer{heard: now} }

// answered notes that a process which was asked has answered. One that said
// meanwhile that it holds nothing stays forgotten, as with the next two.
func (p peers) answered(id string, now time.Time) {
	if _, known := p[id]; known {
		p.sign(id, now)
	}
}

// missed notes that the server knows of no such process.
func (p peers) missed(id string, now time.Time) {
	if at, known := p[id]; known {
		p[id] = peer{heard: at.heard, absent: now}
	}
}

// waits notes that there was no answer in time. That means nothing: it is
// connected, and stalled, or the network is; the server's own patience, [ackWait],
// holds for it.
func (p peers) waits(id string) {
	if at, known := p[id]; known {
		at.asking = false
		p[id] = at
	}
}

// reconnected gives the others time to connect again, too.
func (p peers) reconnected(now time.Time) {
	for id := range p {
		p[id] = peer{heard: now.Add(graceAfter - patience)}
	}
}

// questions returns whom to ask whether they are there, in order, and counts them as asked.
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

// vanished takes out and returns those that have been silent for long enough,
// and were not connected at the end of it.
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
