package failover

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
	"golang.org/x/sync/errgroup"
)

// Protocol of a claim, which returns the messages of a vanished process to the queue before AckWait has passed:
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
func (f *Failover) claiming() {
	nc := f.cfg.Conn
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
		case <-f.claims:
			f.claim(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// claim returns the messages of vanished processes to their queues. It stops after AckWait, when the server redelivers
// them anyway.
func (f *Failover) claim(ctx context.Context) {
	wait, warned := rand.N(claimSpread), false //nolint:gosec // it need not be secret
	began := time.Now()
	for tries := 0; tries < claimTries && time.Since(began) < AckWait; tries++ {
		Pause(ctx, wait)
		wait = claimPause
		if f.otherClaims(time.Now()) {
			wait = standBack // then claim the rest
			continue
		}
		left, err := f.claimOnce(ctx)
		if ctx.Err() != nil || err == nil && !left {
			return
		}
		if errors.Is(err, errLeaderless) {
			wait = leaderPause
			tries--
		}
		if err != nil && !warned {
			warned = true
			f.cfg.Logger.Warn("batons and specs of a process that disappeared are not claimed yet", "err", err)
		}
	}
}

// otherClaims reports whether another process is claiming.
func (f *Failover) otherClaims(now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, at := range f.phases {
		if id != f.id && now.Sub(at.asked) < standBack {
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
func (f *Failover) claimOnce(ctx context.Context) (left bool, err error) {
	queues, silent := f.unheld(ctx, f.cfg.Queues(), f.leases.count())
	if len(queues) == 0 {
		return false, silent
	}
	asked := time.Now()
	f.enter(f.id, asked)
	a, err := f.askAll(asked.Add(answerWait))
	if err == nil {
		queues, err = f.unheld(ctx, queues, a.held)
	}
	a.end()
	if err != nil || len(queues) == 0 || time.Since(asked) > phaseEnds/2 {
		f.broadcast(notice{Says: saysDone})
		f.leave(f.id)
		return len(queues) > 0, cmp.Or(err, silent)
	}
	err = f.setWait(ctx, queues, shortWait)
	Pause(ctx, time.Until(asked.Add(phaseEnds)))
	if e := f.setWait(ctx, queues, AckWait); e != nil {
		return true, e // the phase continues; see endure
	}
	f.broadcast(notice{Says: saysDone, Short: true, Answered: a.ids})
	f.leave(f.id)
	return true, err
}

// unheld returns the queues with more delivered messages than processes report to hold. It returns none while a process
// that does not support claims may hold some. The error is about queues that did not answer.
func (f *Failover) unheld(ctx context.Context, of []Queue, held map[string]int) (queues []Queue, silent error) {
	var (
		mu  sync.Mutex
		now time.Time // server time
	)
	_ = f.each(ctx, leaderTimeout, of, func(ctx context.Context, q Queue) error {
		c, err := q.Consumer(ctx)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			silent = fmt.Errorf("%w: %w", errLeaderless, err)
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
	last, err := f.cfg.Unannounced(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errLeaderless, err)
	case !last.IsZero() && now.Sub(last) < silentFor:
		f.cfg.Logger.Warn("batons and specs are not claimed: another running process does not announce its presence",
			"after", AckWait)
		return nil, nil
	}
	return queues, silent
}

// each calls do for each queue, concurrently.
func (f *Failover) each(ctx context.Context, limit time.Duration, queues []Queue, do func(context.Context, Queue) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(queuesAtOnce)
	for _, q := range queues {
		g.Go(func() error { return do(ctx, q) })
	}
	return g.Wait()
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
func (f *Failover) askAll(until time.Time) (*answers, error) {
	nc := f.cfg.Conn
	inbox := nc.NewInbox()
	sub, err := nc.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	a := &answers{sub: sub, held: map[string]int{}}
	body, err := json.Marshal(notice{ID: f.id, Says: saysRenew})
	if err != nil {
		return a, err
	}
	if err := nc.PublishRequest(f.subject("all"), inbox, body); err != nil {
		return a, err
	}
	own, err := f.renewAll()
	if err != nil {
		return a, err
	}
	maps.Copy(a.held, own)
	for f.awaited(a.ids) {
		if !a.take(time.Until(until)) {
			return a, errUnanswered
		}
	}
	return a, nil
}

// awaited reports whether a known holder has not replied.
func (f *Failover) awaited(answered []string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id := range f.peers {
		if !slices.Contains(answered, id) {
			return true
		}
	}
	return false
}

// renewAll renews all leases of this process. It returns the number of held messages by stream after the server has
// received the renewals.
func (f *Failover) renewAll() (map[string]int, error) {
	f.leases.renewStale(time.Now(), 0)
	held := f.leases.count()
	return held, f.cfg.Conn.FlushTimeout(answerWait)
}

// renew handles the request of a claiming process.
func (f *Failover) renew(id string, m *nats.Msg) {
	held, err := f.renewAll()
	if err != nil {
		return // without a reply, the other process does not claim
	}
	body, err := json.Marshal(tally{ID: f.id, Held: held})
	if err == nil {
		_ = m.Respond(body)
	}
	f.enter(id, time.Now())
}

// done handles the end of another process's claim. If this process had not replied, the server may have
// redelivered the messages that this process held.
func (f *Failover) done(n notice) {
	f.mu.Lock()
	at := time.Now()
	if phase := f.phases[n.ID]; phase != nil {
		at = phase.asked
	}
	f.mu.Unlock()
	if n.Short && !slices.Contains(n.Answered, f.id) {
		f.leases.doubt(at)
	}
	f.leave(n.ID)
}

func (f *Failover) enter(id string, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.phases[id] = &phase{asked: now, renewed: now}
	wake(f.begun)
}

func (f *Failover) leave(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.phases, id)
}

// endure keeps the leases of this process while another process is late to end its claim, and finally ends the claim
// for it.
func (f *Failover) endure(now time.Time, late []string) {
	if len(late) == 0 {
		return
	}
	f.leases.renewStale(now, pulseEvery)
	for _, id := range late {
		f.mu.Lock()
		at := f.phases[id]
		due := at != nil && now.Sub(at.asked) >= restoreAfter && now.Sub(at.renewed) >= restoreAfter
		if due {
			at.renewed = now // attempted; retry later
		}
		f.mu.Unlock()
		if !due {
			continue
		}
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), queueTimeout)
			defer cancel()
			if f.setWait(ctx, f.cfg.Queues(), AckWait) == nil {
				f.leave(id)
			}
		}()
	}
}

// setWait sets the ack wait of queues.
func (f *Failover) setWait(ctx context.Context, queues []Queue, wait time.Duration) error {
	return f.each(ctx, queueTimeout, queues, func(ctx context.Context, q Queue) error {
		return q.SetAckWait(ctx, wait)
	})
}
