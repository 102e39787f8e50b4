package failover

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// Times after which a process leaves its NATS server. A server that is partitioned from its cluster still serves its
// clients but stores nothing. Until the cluster has elected new leaders, a connected server looks the same, except that
// other processes are heard. Without them, the process leaves sooner.
const (
	leaveAlone = 3 * time.Second  // without an answer from any stream, and without other processes
	leaveAfter = 12 * time.Second // the same while others are heard; an election takes up to 9 s
	heardFor   = 2 * time.Second  // four of their messages
	stayFor    = 10 * time.Second // minimum stay on the next server

	// A message that is not repeated within this time no longer counts as unanswered. It exceeds the timeout of an
	// answer plus the longest pause before a retry.
	repeated = 15 * time.Second
)

// elsewhere makes a process leave a NATS server that stores nothing.
type elsewhere struct {
	nc  *nats.Conn
	log *slog.Logger

	// Times in Unix nanoseconds; 0: never, or not now.
	since atomic.Int64 // first message since the last answer
	heard atomic.Int64 // last message of another process that holds batons or specs
	last  atomic.Int64 // last message sent
	left  atomic.Int64 // last time a server was left
}

// Answered records an answer from a stream. It proves that this process is not partitioned, so silent processes have
// vanished.
func (e *elsewhere) Answered(now time.Time) {
	if e.since.Load() != 0 {
		e.since.Store(0)
	}
	if heard := e.heard.Load(); heard != 0 && now.Sub(time.Unix(0, heard)) >= heardFor {
		e.heard.CompareAndSwap(heard, 0) // unless another message has just arrived
	}
}

// Reconnected records a new connection: unanswered messages were sent on the previous one.
func (e *elsewhere) Reconnected() { e.since.Store(0) }

// hears records whether any other process reports that it holds batons or specs.
func (e *elsewhere) hears(now time.Time, holds bool) {
	if holds {
		e.heard.Store(now.UnixNano())
	} else {
		e.heard.Store(0)
	}
}

// Sent records that a message is sent, or that one was not answered.
func (e *elsewhere) Sent(now time.Time) {
	since, last := e.since.Load(), e.last.Swap(now.UnixNano())
	if since == 0 || now.Sub(time.Unix(0, last)) >= repeated {
		e.since.CompareAndSwap(since, now.UnixNano())
		return
	}
	left := e.left.Load()
	if !e.silence(now).leaves() || len(e.nc.Servers()) < 2 || !e.left.CompareAndSwap(left, now.UnixNano()) {
		return
	}
	e.since.Store(0)
	e.log.Warn("the NATS server stores nothing; connecting to another one", "server", e.nc.ConnectedAddr())
	go func() { _ = e.nc.ForceReconnect() }()
}

// cutOff reports whether other processes and streams have been silent for so long that the others may consider this
// process vanished.
func (e *elsewhere) cutOff(now time.Time) bool {
	s := e.silence(now)
	return min(s.unanswered, s.others) >= patience-pulseEvery
}

// silence returns how long each source has been silent.
func (e *elsewhere) silence(now time.Time) (s silence) {
	ago := func(at *atomic.Int64) time.Duration {
		if n := at.Load(); n != 0 {
			return now.Sub(time.Unix(0, n))
		}
		return 0
	}
	s = silence{unanswered: ago(&e.since), others: ago(&e.heard), here: now.Sub(time.Unix(0, e.left.Load()))}
	if ago(&e.last) >= repeated {
		s.unanswered = 0
	}
	return s
}

// silence holds how long a process has heard nothing.
type silence struct {
	unanswered time.Duration // messages to streams; 0: none
	others     time.Duration // other holders; 0: none exist
	here       time.Duration // since it left a server
}

// leaves reports whether to leave the server.
func (s silence) leaves() bool {
	after := leaveAfter
	if s.others >= heardFor {
		after = leaveAlone
	}
	return s.unanswered >= after && s.here >= stayFor
}
