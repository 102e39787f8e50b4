package store

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// When a process leaves its NATS server for another one: a server that is cut off
// from its cluster goes on to serve its clients, and stores nothing. One that is not
// looks the same until its cluster has chosen other leaders, except that other
// processes are heard, so without them it is left sooner.
const (
	leaveAlone = 3 * time.Second  // in which nothing that was sent to any stream was answered
	leaveAfter = 12 * time.Second // the same, while others are heard: leaders are chosen in nine seconds
	heardFor   = 2 * time.Second  // four of their words
	stayFor    = 10 * time.Second // on the next server at least

	// What is not sent again within that is not repeated, so that its answer tells
	// nothing by not coming. It is more than the patience for an answer and the
	// longest pause before a repetition.
	repeated = 15 * time.Second
)

// elsewhere has a process leave a NATS server that stores nothing.
type elsewhere struct {
	nc  *nats.Conn
	log *slog.Logger

	// All in Unix nanoseconds; 0: never, or not now.
	since atomic.Int64 // when the first message was sent that no answer followed
	heard atomic.Int64 // when another process has said that it holds something
	last  atomic.Int64 // when one was sent last
	left  atomic.Int64 // when a server was left last
}

// answered notes that a stream has answered. Others who are silent all the same are
// gone: it is not this process that is cut off.
func (e *elsewhere) answered(now time.Time) {
	if e.since.Load() != 0 {
		e.since.Store(0)
	}
	if heard := e.heard.Load(); heard != 0 && now.Sub(time.Unix(0, heard)) >= heardFor {
		e.heard.CompareAndSwap(heard, 0) // unless one is heard just now
	}
}

// reconnected notes that there is another connection: what is not answered was sent
// on the one before.
func (e *elsewhere) reconnected() { e.since.Store(0) }

// hears notes whether another process has said that it holds something, or none.
func (e *elsewhere) hears(now time.Time, holds bool) {
	if holds {
		e.heard.Store(now.UnixNano())
	} else {
		e.heard.Store(0)
	}
}

// sent notes that a message is sent, or that one was not answered.
func (e *elsewhere) sent(now time.Time) {
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
	e.log.Warn("the NATS server stores nothing; going to another one", "server", e.nc.ConnectedAddr())
	go func() { _ = e.nc.ForceReconnect() }()
}

// cutOff reports whether nobody is heard, and nothing answered, for so long that other
// processes may take this one for one that has vanished: as without connection.
func (e *elsewhere) cutOff(now time.Time) bool {
	s := e.silence(now)
	return min(s.unanswered, s.others) >= patience-pulseEvery
}

// silence returns for how long nothing has been heard.
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

// silence is for how long a process has heard nothing.
type silence struct {
	unanswered time.Duration // what was sent to streams; 0: nothing was
	others     time.Duration // of processes that hold something; 0: there are none
	here       time.Duration // since it left a server
}

// leaves reports whether a server is to be left.
func (s silence) leaves() bool {
	after := leaveAfter
	if s.others >= heardFor {
		after = leaveAlone
	}
	return s.unanswered >= after && s.here >= stayFor
}
