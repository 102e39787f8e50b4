package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"
)

// Protocol of a claim, which returns the messages of a vanished process to the queue before ackWait has passed:
//
//  1. The claiming process asks all others to renew their leases, and renews its own.
//  2. It shortens the server's ack wait for a moment. The server redelivers every message whose lease was not renewed.
//  3. It restores the ack wait.
//
// All live leases were renewed after the request, so they are safe if the phase ends within shortWait of the request,
// regardless of stalls. If the claiming process stalls or dies during the phase, the other processes keep renewing
// their leases and restore the ack wait themselves.
const (
	shortWait    = 1500 * time.Millisecond // equals the patience of [peers]: leases of a vanished process are older
	answerWait   = 400 * time.Millisecond  // for all holders to renew
	phaseEnds    = time.Second             // after the request
	endureAfter  = phaseEnds + watchEvery  // the others start to renew old leases
	restoreAfter = 3 * time.Second         // the others restore the ack wait

	standBack    = 2 * time.Second // while another process claims
	claimTries   = 5
	claimPause   = 500 * time.Millisecond
	claimSpread  = 100 * time.Millisecond // spreads processes that notice together; the first one claims
	queueTimeout = 2 * time.Second        // for the server to update a consumer
	queuesAtOnce = 16

	// When processes of a failed server are missed, the cluster may still be electing leaders. A request to a queue
	// without a leader is never answered, even if a leader is elected a moment later, so it is repeated soon.
	leaderTimeout = 500 * time.Millisecond
	leaderPause   = 100 * time.Millisecond

	// silentFor is how long a process without presence permissions counts as a possible holder after its last check of
	// the streams. Checks run every 10 s.
	silentFor = 30 * time.Second
)

// phase is a claim in progress.
type phase struct {
	asked   time.Time
	renewed time.Time // last renewal by this process because of the claim
}

// overstayed returns the processes whose claims take too long.
func overstayed(phases map[string]*phase, now time.Time) []string {
	var ids []string
	for id, at := range phases {
		if now.Sub(at.asked) >= endureAfter {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// claiming runs claims on request until the connection is closed.
func (p *presence) claiming() {
	nc := p.store.nc
	closed := nc.StatusChanged(nats.CLOSED)
	defer nc.RemoveStatusListener(closed)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-closed
		cancel()
	}()
	for !nc.IsClosed() {
		select {
		case <-p.claims:
			p.claim(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// claim returns the messages of vanished processes to their queues. It stops after ackWait, when the server redelivers
// them anyway.
func (p *presence) claim(ctx context.Context) {
	wait, warned := rand.N(claimSpread), false //nolint:gosec // it need not be secret
	began := time.Now()
	for tries := 0; tries < claimTries && time.Since(began) < ackWait; tries++ {
		pause(ctx, wait)
		wait = claimPause
		if p.otherClaims(time.Now()) {
			wait = standBack // then claim the rest
			continue
		}
		left, err := p.claimOnce(ctx)
		if ctx.Err() != nil || err == nil && !left {
			return
		}
		if errors.Is(err, errLeaderless) {
			wait = leaderPause
			tries--
		}
		if err != nil && !warned {
			warned = true
			p.store.cfg.Logger.Warn("batons and specs of a process that has vanished are not claimed yet", "err", err)
		}
	}
}

// otherClaims reports whether another process is claiming.
func (p *presence) otherClaims(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, at := range p.phases {
		if id != p.id && now.Sub(at.asked) < standBack {
			return true
		}
	}
	return false
}

// Reasons to postpone a claim.
var (
	errUnanswered = errors.New("a process that holds batons or specs does not answer") // it may not have renewed its leases
	errLeaderless = errors.New("a queue of batons or specs has no leader")
)

// claimOnce claims messages in the queues whose leaders answer. It reports whether messages may remain.
func (p *presence) claimOnce(ctx context.Context) (left bool, err error) {
	queues, silent := p.unheld(ctx, p.store.queues(), p.store.leases.count())
	if len(queues) == 0 {
		return false, silent
	}
	asked := time.Now()
	p.enter(p.id, asked)
	a, err := p.askAll(asked.Add(answerWait))
	if err == nil {
		queues, err = p.unheld(ctx, queues, a.held)
	}
	a.end()
	if err != nil || len(queues) == 0 || time.Since(asked) > phaseEnds/2 {
		p.say(notice{Says: saysDone})
		p.leave(p.id)
		return len(queues) > 0, cmp.Or(err, silent)
	}
	err = p.setWait(ctx, queues, shortWait)
	pause(ctx, time.Until(asked.Add(phaseEnds)))
	if e := p.setWait(ctx, queues, ackWait); e != nil {
		return true, e // the phase continues; see endure
	}
	p.say(notice{Says: saysDone, Short: true, Answered: a.ids})
	p.leave(p.id)
	return true, err
}

// unheld returns the queues with more delivered messages than processes report to hold. It returns none while a process
// that does not support claims may hold some. The error is about queues that did not answer.
func (p *presence) unheld(ctx context.Context, of []queue, held map[string]int) (queues []queue, silent error) {
	var (
		mu  sync.Mutex
		now time.Time // server time
	)
	_ = p.each(ctx, leaderTimeout, of, func(ctx context.Context, q queue) error {
		c, err := q.stream.Consumer(ctx, workers)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			silent = fmt.Errorf("%w: %w", errLeaderless, translate(err))
			return nil // the others may answer
		}
		info := c.CachedInfo()
		now = info.TimeStamp
		if info.NumAckPending > held[info.Stream] {
			queues = append(queues, q)
		}
		return nil
	})
	if len(queues) == 0 {
		return nil, silent
	}
	ctx, cancel := context.WithTimeout(ctx, leaderTimeout)
	defer cancel()
	e, err := p.store.settings.Get(ctx, writtenKey)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return queues, silent
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errLeaderless, translate(err))
	case now.Sub(e.Created()) < silentFor:
		p.store.cfg.Logger.Warn("batons and specs are not claimed: a process works beside this one that does not tell of its presence",
			"after", ackWait)
		return nil, nil
	}
	return queues, silent
}

// each calls f for each queue, concurrently.
func (p *presence) each(ctx context.Context, limit time.Duration, queues []queue, f func(context.Context, queue) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(queuesAtOnce)
	for _, q := range queues {
		g.Go(func() error { return f(ctx, q) })
	}
	return translate(g.Wait())
}

// answers collects the replies to saysRenew.
type answers struct {
	sub  *nats.Subscription
	ids  []string
	held map[string]int // by stream, including this process
}

// take waits for the next reply and reports whether one arrived.
func (a *answers) take(wait time.Duration) bool {
	m, err := a.sub.NextMsg(wait)
	if err != nil {
		return false
	}
	var t tally
	if json.Unmarshal(m.Data, &t) == nil {
		a.ids = append(a.ids, t.ID)
		for stream, n := range t.Held {
			a.held[stream] += n
		}
	}
	return true
}

// end collects late replies and unsubscribes.
func (a *answers) end() {
	if a == nil {
		return
	}
	for a.take(time.Millisecond) {
	}
	_ = a.sub.Unsubscribe()
}

// askAll makes all processes renew their leases. It returns when every known holder has replied.
func (p *presence) askAll(until time.Time) (*answers, error) {
	nc := p.store.nc
	inbox := nc.NewInbox()
	sub, err := nc.SubscribeSync(inbox)
	if err != nil {
		return nil, translate(err)
	}
	a := &answers{sub: sub, held: map[string]int{}}
	body, err := json.Marshal(notice{ID: p.id, Says: saysRenew})
	if err != nil {
		return a, err
	}
	if err := nc.PublishRequest(p.subject("all"), inbox, body); err != nil {
		return a, translate(err)
	}
	own, err := p.renewAll()
	if err != nil {
		return a, err
	}
	maps.Copy(a.held, own)
	for p.awaited(a.ids) {
		if !a.take(time.Until(until)) {
			return a, errUnanswered
		}
	}
	return a, nil
}

// awaited reports whether a known holder has not replied.
func (p *presence) awaited(answered []string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.peers {
		if !slices.Contains(answered, id) {
			return true
		}
	}
	return false
}

// renewAll renews all leases of this process. It returns the number of held messages by stream after the server has
// received the renewals.
func (p *presence) renewAll() (map[string]int, error) {
	p.store.leases.renewStale(time.Now(), 0)
	held := p.store.leases.count()
	return held, translate(p.store.nc.FlushTimeout(answerWait))
}

// renew handles the request of a claiming process.
func (p *presence) renew(id string, m *nats.Msg) {
	held, err := p.renewAll()
	if err != nil {
		return // without a reply, the other process does not claim
	}
	body, err := json.Marshal(tally{ID: p.id, Held: held})
	if err == nil {
		_ = m.Respond(body)
	}
	p.enter(id, time.Now())
}

// done handles the end of another process's claim. If this process had not replied, the server may have
// redelivered the messages that this process held.
func (p *presence) done(n notice) {
	p.mu.Lock()
	at := time.Now()
	if phase := p.phases[n.ID]; phase != nil {
		at = phase.asked
	}
	p.mu.Unlock()
	if n.Short && !slices.Contains(n.Answered, p.id) {
		p.store.leases.doubt(at)
	}
	p.leave(n.ID)
}

func (p *presence) enter(id string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phases[id] = &phase{asked: now, renewed: now}
	wake(p.begun)
}

func (p *presence) leave(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.phases, id)
}

// endure keeps the leases of this process while another process is late to end its claim, and finally ends the claim
// for it.
func (p *presence) endure(now time.Time, late []string) {
	if len(late) == 0 {
		return
	}
	p.store.leases.renewStale(now, pulseEvery)
	for _, id := range late {
		p.mu.Lock()
		at := p.phases[id]
		due := at != nil && now.Sub(at.asked) >= restoreAfter && now.Sub(at.renewed) >= restoreAfter
		if due {
			at.renewed = now // attempted; retry later
		}
		p.mu.Unlock()
		if !due {
			continue
		}
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), queueTimeout)
			defer cancel()
			if p.setWait(ctx, p.store.queues(), ackWait) == nil {
				p.leave(id)
			}
		}()
	}
}

// setWait sets the ack wait of queues.
func (p *presence) setWait(ctx context.Context, queues []queue, wait time.Duration) error {
	return p.each(ctx, queueTimeout, queues, func(ctx context.Context, q queue) error {
		return p.store.consumer(ctx, q.stream, q.consumer(wait))
	})
}
