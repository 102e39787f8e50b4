package conn

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

	"github.com/carillon-sched/carillon/store/failover"
)

// Limits of a pull request. If a process is suspended, the server keeps filling its requests until they are used up or
// expire, and those messages wait for their leases to end. While messages arrive, requests therefore expire before
// those leases can: a lease has at least [failover.LeastLeft] left when its process is suspended. In quiet
// times, a request asks for one message, and larger requests follow when it arrives.
const (
	pullBatch     = 512
	pullExpires   = failover.LeastLeft // while messages arrive
	pullQuiet     = 30 * time.Second
	pullHeartbeat = 10 * time.Second
	pullPause     = 250 * time.Millisecond // after a refused request
)

// silent is the time without a sign of life after which a request counts as lost. In a cluster, requests are lost
// without notice when the consumer's leader fails. They are then repeated before a new leader can exist, and every
// pullPause from then on.
const (
	silent        = 2*pullHeartbeat + time.Second
	clusterBeat   = 2 * time.Second
	clusterSilent = pullExpires + time.Second // also two heartbeats
)

// puller requests messages from a durable consumer, never more than room reports. It requests more when half of them
// have arrived.
type puller struct {
	Pulling

	nc       *nats.Conn
	log      *slog.Logger
	subject  string // of pull requests
	deliver  func(*nats.Msg)
	beat     time.Duration // heartbeat interval in quiet times
	silent   time.Duration // see the constant silent
	mu       sync.Mutex
	single   bool      // the next message may exceed bytes
	asked    int       // messages requested but not delivered
	lastSeen time.Time // last sign of life, or start of waiting for one
	lastCame time.Time // last message
	warned   time.Time
	done     bool
	inbox    string
}

// Pulling configures a puller.
type Pulling struct {
	Wake     <-chan struct{} // room has become available
	Capacity func() int      // number of messages that the owner can take
	All      *atomic.Int64   // messages requested by all pullers that share room
	Share    int             // number of pullers that share room
	Bytes    int             // maximum size of a request, except for a single larger message; 0: unlimited
}

// Pull passes the messages of a stream to deliver until ctx is done and then drains: every message that the server has
// sent still reaches deliver, which releases it. Failover claims the messages meanwhile.
func (s *Conn) Pull(ctx context.Context, stream string, how Pulling, deliver func(*nats.Msg, Delivered)) error {
	s.Failover.Begin()
	defer s.Failover.End()
	p := &puller{
		nc: s.NC, log: s.Config.Logger, Pulling: how, inbox: s.NC.NewInbox(), lastSeen: time.Now(),
		subject: fmt.Sprintf("$JS.API.CONSUMER.MSG.NEXT.%s.%s", stream, Workers), beat: pullHeartbeat, silent: silent,
	}
	p.deliver = func(m *nats.Msg) {
		if of, ok := ReadDelivered(m.Reply); ok {
			deliver(m, of)
			return
		}
		p.log.Error("message without JetStream metadata", "subject", m.Subject, "reply", m.Reply)
	}
	if s.Replicas > 1 {
		p.beat, p.silent = clusterBeat, clusterSilent
	}
	sub, err := s.NC.Subscribe(p.inbox, p.receive)
	if err != nil {
		return Translate(err)
	}
	_ = sub.SetPendingLimits(-1, -1) // bounded by the requests
	check, beat := time.NewTicker(p.beat/2), time.NewTicker(failover.StallBeat)
	defer check.Stop()
	defer p.forget()
	defer beat.Stop()
	connected := s.NC.StatusChanged(nats.CONNECTED)
	defer s.NC.RemoveStatusListener(connected)
	for {
		p.ask()
		select {
		case <-how.Wake:
		case _, open := <-connected: // after a reconnect, the server may have lost the requests
			if !open {
				connected = nil
			}
			p.forget()
		case now := <-beat.C:
			s.Failover.Beat(now)
			continue
		case <-check.C:
			p.checkAlive()
		case <-ctx.Done():
			return p.drain(sub)
		}
	}
}

// drain ends the subscription after all messages in flight have arrived.
func (p *puller) drain(sub *nats.Subscription) error {
	p.mu.Lock()
	p.done = true
	p.mu.Unlock()
	if err := sub.Drain(); err != nil {
		return nil //nolint:nilerr // the connection is gone, and the messages with it
	}
	for end := time.Now().Add(2 * time.Second); sub.IsValid() && time.Now().Before(end); {
		<-time.After(time.Millisecond)
	}
	return nil
}

// setAsked updates the number of requested messages. The caller holds mu.
func (p *puller) setAsked(n int) {
	p.All.Add(int64(n - p.asked))
	p.asked = n
}

// ask requests as many messages as room allows.
func (p *puller) ask() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done || p.asked > pullBatch/2 {
		return
	}
	most, expires, heartbeat := pullBatch-p.asked, pullExpires, time.Duration(0) // the request's end is a sign of life as well
	if time.Since(p.lastCame) > pullExpires {
		most, expires, heartbeat = 1-p.asked, pullQuiet, p.beat
	}
	bytes := p.Bytes
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
		p.lastSeen = time.Now() // without a request, no sign of life was due
	}
	p.single = false
}

// reserve claims room for up to limit messages and returns their number. Other pullers may claim part of the same room
// concurrently. The caller holds mu.
func (p *puller) reserve(limit int) int {
	for {
		taken := p.All.Load() // before room, so that a message in between is counted twice rather than missed
		n := min((p.Capacity()-int(taken)+p.Share-1)/p.Share, limit)
		if n <= 0 {
			return 0
		}
		if p.All.CompareAndSwap(taken, taken+int64(n)) {
			p.asked += n
			return n
		}
	}
}

// receive handles a message or a status of the server.
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
	default: // the request expired or was refused
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
	default: // such as a new leader of the consumer, or a deleted stream
		p.refused(status, m.Header.Get("Description"))
	}
}

// came counts a delivered message. It follows deliver, so that room is never overestimated.
func (p *puller) came() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.setAsked(max(0, p.asked-1))
}

// completed is the status of a request that was filled below its size limit.
const completed = "Batch Completed"

// tooManyBytes is the status of a request whose remaining bytes do not fit the next message.
const tooManyBytes = "Message Size Exceeds MaxBytes"

// alone requests the next message without a size limit.
func (p *puller) alone() {
	p.mu.Lock()
	p.single = true
	p.mu.Unlock()
	p.ask()
}

// refused retries after pullPause.
func (p *puller) refused(status, reason string) {
	p.warn(status, reason)
	time.AfterFunc(pullPause, p.ask)
}

// warn logs a refused request, at most once per pullHeartbeat.
func (p *puller) warn(status, reason string) {
	p.mu.Lock()
	quiet := time.Since(p.warned) < pullHeartbeat
	if !quiet {
		p.warned = time.Now()
	}
	p.mu.Unlock()
	if !quiet {
		p.log.Warn("the server refused a request for messages; retrying", "subject", p.subject, "status", status, "reason", reason)
	}
}

// checkAlive discards requests that the server no longer answers.
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
