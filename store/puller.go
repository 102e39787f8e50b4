package store

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// The bounds of a pull request. The server serves those of a process that was
// suspended until they are used up or expire, and what it gives to them waits for
// a lease. So what is asked for while messages come expires before the leases of
// such a process do, which is renewLast and a second before their end at the
// earliest; and in quiet times, which cost a message now and then, one message is
// asked for, and more when it has come.
const (
	pullBatch     = 512
	pullExpires   = ackWait - renewLast - renewEvery // while messages come
	pullQuiet     = 30 * time.Second
	pullHeartbeat = 10 * time.Second
	pullPause     = 250 * time.Millisecond // after a refused request
)

// silent is after how long without a sign of life a request counts as lost. In a
// cluster it goes with the server that leads the consumer, which nobody tells: it
// is asked again before there can be another leader, and from then on every
// pullPause.
const (
	silent        = 2*pullHeartbeat + time.Second
	clusterBeat   = 2 * time.Second
	clusterSilent = pullExpires + time.Second // two of these, too
)

// puller takes messages from a durable consumer, never more than its owner
// has room for: it asks for as many as room reports, and asks again as soon
// as half of them have come.
type puller struct {
	pulling

	nc       *nats.Conn
	log      *slog.Logger
	subject  string // of the pull request
	deliver  func(*nats.Msg)
	beat     time.Duration // of a request in quiet times
	silent   time.Duration // see [silent]
	mu       sync.Mutex
	single   bool      // the next message alone may be longer than bytes
	asked    int       // messages asked for and not delivered yet
	lastSeen time.Time // the last sign of life, or since when there is to be one
	lastCame time.Time // the last message
	warned   time.Time
	done     bool
	inbox    string
}

// pulling says how much is pulled.
type pulling struct {
	wake  <-chan struct{} // there is room again
	room  func() int      // for so many messages
	all   *atomic.Int64   // messages that all pullers with the same room have asked for
	share int             // how many they are
	bytes int             // of a request at most, but for a message that is longer alone; 0: any
}

// pull runs until ctx is done, then drains: every message the server has sent
// still reaches deliver, which gives it back.
func (s *Store) pull(ctx context.Context, stream string, how pulling, deliver func(*nats.Msg)) error {
	p := &puller{
		nc: s.nc, log: s.cfg.Logger, pulling: how, deliver: deliver, inbox: s.nc.NewInbox(), lastSeen: time.Now(),
		subject: fmt.Sprintf("$JS.API.CONSUMER.MSG.NEXT.%s.%s", stream, workers), beat: pullHeartbeat, silent: silent,
	}
	if s.replicas > 1 {
		p.beat, p.silent = clusterBeat, clusterSilent
	}
	sub, err := s.nc.Subscribe(p.inbox, p.receive)
	if err != nil {
		return translate(err)
	}
	_ = sub.SetPendingLimits(-1, -1) // bounded by what is asked for
	check, beat := time.NewTicker(p.beat/2), time.NewTicker(stallBeat)
	defer check.Stop()
	defer p.forget()
	defer beat.Stop()
	connected := s.nc.StatusChanged(nats.CONNECTED)
	defer s.nc.RemoveStatusListener(connected)
	for {
		p.ask()
		select {
		case <-how.wake:
		case _, open := <-connected: // again: the server may be another, and knows of no request
			if !open {
				connected = nil
			}
			p.forget()
		case now := <-beat.C:
			s.stall.beat(now)
			continue
		case <-check.C:
			p.checkAlive()
		case <-ctx.Done():
			return p.drain(sub)
		}
	}
}

// drain ends the subscription after everything under way has come in.
func (p *puller) drain(sub *nats.Subscription) error {
	p.mu.Lock()
	p.done = true
	p.mu.Unlock()
	if err := sub.Drain(); err != nil {
		return nil //nolint:nilerr // the connection is gone, and the messages with it
	}
	deadline := time.After(2 * time.Second)
	for sub.IsValid() {
		select {
		case <-deadline:
			return nil
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

// setAsked changes how many messages are asked for. The lock is held.
func (p *puller) setAsked(n int) {
	p.all.Add(int64(n - p.asked))
	p.asked = n
}

// ask requests as many messages as there is room for.
func (p *puller) ask() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done || p.asked > pullBatch/2 {
		return
	}
	most, expires, heartbeat := pullBatch-p.asked, pullExpires, time.Duration(0) // its end is a sign of life, too
	if time.Since(p.lastCame) > pullExpires {
		most, expires, heartbeat = 1-p.asked, pullQuiet, p.beat
	}
	bytes := p.bytes
	if p.single {
		most, bytes = min(most, 1), 0
	}
	before := p.asked
	n := p.reserve(most)
	if n <= 0 {
		return
	}
	req, err := json.Marshal(struct {
		Expires   time.Duration `json:"expires"`
		Batch     int           `json:"batch"`
		Bytes     int           `json:"max_bytes,omitempty"`
		Heartbeat time.Duration `json:"idle_heartbeat,omitempty"`
	}{expires, n, bytes, heartbeat})
	if err == nil {
		err = p.nc.PublishRequest(p.subject, p.inbox, req)
	}
	if err != nil {
		p.setAsked(before)
		return
	}
	if before == 0 {
		p.lastSeen = time.Now() // nothing was to be seen while nothing was asked for
	}
	p.single = false
}

// reserve claims room for up to limit messages and returns for how many. Other pullers may claim a part of the same room
// concurrently. The lock is held.
func (p *puller) reserve(limit int) int {
	for {
		taken := p.all.Load() // before the room: a message that comes in between is counted twice rather than not at all
		n := min((p.room()-int(taken)+p.share-1)/p.share, limit)
		if n <= 0 {
			return 0
		}
		if p.all.CompareAndSwap(taken, taken+int64(n)) {
			p.asked += n
			return n
		}
	}
}

// receive takes a message or a status of the server.
func (p *puller) receive(m *nats.Msg) {
	status := ""
	if len(m.Data) == 0 && m.Header != nil {
		status = m.Header.Get("Status")
	}
	p.mu.Lock()
	p.lastSeen = time.Now()
	switch status {
	case "":
		p.lastCame = p.lastSeen
	case "100": // idle heartbeat
	default: // the request ended: expired, or refused
		pending, err := strconv.Atoi(m.Header.Get("Nats-Pending-Messages"))
		if err != nil {
			pending = p.asked
		}
		p.setAsked(max(0, p.asked-pending))
	}
	p.mu.Unlock()
	switch status {
	case "":
		p.deliver(m)
		p.came()
		p.ask()
	case "100":
	case "408":
		p.ask()
	case "409":
		switch reason := m.Header.Get("Description"); reason {
		case tooManyBytes:
			p.alone()
		case completed:
			p.ask()
		default:
			p.refused(status, reason)
		}
	default: // such as a change of the consumer's leader, or a stream that is gone
		p.refused(status, m.Header.Get("Description"))
	}
}

// came counts a message that has come. Its owner has counted it before: in between, there would be room for another.
func (p *puller) came() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.setAsked(max(0, p.asked-1))
}

// completed is what the server says at the end of a request that had as many
// messages as it asked for, and fewer bytes.
const completed = "Batch Completed"

// tooManyBytes is what the server says when the next message does not fit into
// what is left of a request.
const tooManyBytes = "Message Size Exceeds MaxBytes"

// alone asks for the next message by itself.
func (p *puller) alone() {
	p.mu.Lock()
	p.single = true
	p.mu.Unlock()
	p.ask()
}

// refused asks again, a little later.
func (p *puller) refused(status, reason string) {
	p.warn(status, reason)
	time.AfterFunc(pullPause, p.ask)
}

// warn tells of refused requests, once for each heartbeat.
func (p *puller) warn(status, reason string) {
	p.mu.Lock()
	quiet := time.Since(p.warned) < pullHeartbeat
	if !quiet {
		p.warned = time.Now()
	}
	p.mu.Unlock()
	if !quiet {
		p.log.Warn("the server refused a request for messages; asking again", "subject", p.subject, "status", status, "reason", reason)
	}
}

// checkAlive forgets requests the server no longer answers.
func (p *puller) checkAlive() {
	p.mu.Lock()
	lost := p.asked > 0 && time.Since(p.lastSeen) > p.silent
	p.mu.Unlock()
	if lost {
		p.forget()
	}
}

func (p *puller) forget() {
	p.mu.Lock()
	p.setAsked(0)
	p.mu.Unlock()
}
