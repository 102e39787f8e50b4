// Package connlimit bounds the connections of a server, so that those of slow or
// idle clients do not take the files that the process needs, nor keep others
// out.
//
// When there are as many as allowed, the next one takes the place of the one
// that has kept the server waiting longest: for its first request, for the rest
// of one, for another one, or, for seconds, to take its answer. A connection whose
// request is being worked on is never ended else; when there are only such, the
// next one waits in the system's backlog until one of them is done.
package connlimit

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Limiter counts the connections of one server. It is safe for concurrent use.
type Limiter struct {
	most  int
	taken time.Duration // by which what is written has to be taken, where others want the connection's place

	mu      sync.Mutex
	conns   map[string]*conn // by remote address
	freed   chan struct{}    // closed when a connection has ended or begun to wait
	evicted int
}

// New returns a limiter of so many connections. Less than one is one.
func New(most int) *Limiter {
	return &Limiter{most: max(1, most), taken: takePatience, conns: map[string]*conn{}, freed: make(chan struct{})}
}

// takePatience is how long a client may take nothing of its answer while others wait for room.
const takePatience = 5 * time.Second

// Listen returns a listener whose connections are limited together.
func (c *Limiter) Listen(l net.Listener) net.Listener {
	return &listener{Listener: l, limiter: c, closed: make(chan struct{})}
}

// Len returns how many connections there are.
func (c *Limiter) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.conns)
}

// Evicted returns how many connections had to make room for others.
func (c *Limiter) Evicted() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.evicted
}

// Busy says that the connection from a remote address is no longer waited for,
// and Idle that it is again. Those of other servers do not matter.
func (c *Limiter) Busy(remote string) { c.set(remote, true) }

// Idle says that the server waits for a connection's client: see [Limiter.Busy].
func (c *Limiter) Idle(remote string) { c.set(remote, false) }

func (c *Limiter) set(remote string, working bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.conns[remote]
	if k == nil || k.working == working {
		return
	}
	k.working, k.since = working, time.Now()
	if !working {
		c.wake()
	}
}

// wake lets those look again that wait for room. The lock is held.
func (c *Limiter) wake() {
	close(c.freed)
	c.freed = make(chan struct{})
}

// admit takes a connection in, or returns nil and what to wait for. The one that
// has to go for it is returned to be closed.
func (c *Limiter) admit(socket net.Conn) (k, evicted *conn, freed <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.conns) >= c.most {
		if evicted = c.longestWaiting(); evicted == nil {
			return nil, nil, c.freed
		}
		delete(c.conns, evicted.remote)
		c.evicted++
	}
	k = &conn{Conn: socket, limiter: c, remote: socket.RemoteAddr().String(), since: time.Now()}
	c.conns[k.remote] = k
	return k, evicted, nil
}

// longestWaiting returns the connection that has kept the server waiting
// longest; nil when all are worked on.
func (c *Limiter) longestWaiting() (found *conn) {
	var longest time.Time
	for _, k := range c.conns {
		if since, waits := k.waited(c.taken); waits && (found == nil || since.Before(longest)) {
			found, longest = k, since
		}
	}
	return found
}

func (c *Limiter) leave(k *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conns[k.remote] == k {
		delete(c.conns, k.remote)
		c.wake()
	}
}

// conn is a connection that counts.
type conn struct {
	net.Conn

	limiter *Limiter
	remote  string
	working bool      // the server does not wait for the client
	since   time.Time // it does, or not

	writing atomic.Int64 // since when something is written, in nanoseconds of Unix; 0: nothing is
}

// Write writes, which a client that takes nothing makes last.
func (k *conn) Write(p []byte) (int, error) {
	k.writing.Store(time.Now().UnixNano())
	defer k.writing.Store(0)
	return k.Conn.Write(p)
}

// waited returns since when the server waits for the client, if it does: of one that is worked on, since what is written
// should have been taken. The limiter's lock is held.
func (k *conn) waited(taken time.Duration) (since time.Time, waits bool) {
	if !k.working {
		return k.since, true
	}
	began := k.writing.Load()
	since = time.Unix(0, began).Add(taken)
	return since, began != 0 && time.Now().After(since)
}

// Close ends the connection and makes room for another one.
func (k *conn) Close() error {
	err := k.Conn.Close()
	k.limiter.leave(k)
	return err
}

type listener struct {
	net.Listener

	limiter *Limiter
	once    sync.Once
	closed  chan struct{}
}

// Accept returns the next connection once there is room for it.
func (l *listener) Accept() (net.Conn, error) {
	socket, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	for {
		k, evicted, freed := l.limiter.admit(socket)
		if evicted != nil {
			evicted.Conn.Close()
		}
		if k != nil {
			return k, nil
		}
		select {
		case <-freed:
		case <-time.After(l.limiter.taken):
		case <-l.closed:
			socket.Close()
			return nil, net.ErrClosed
		}
	}
}

// Close ends the listening.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// Watch has a server, whose listener is the limiter's, tell which connections are
// waited for: until a request's body has come, and after its answer has gone.
// Bodies have to come within patience; 0 leaves that to the server. Call it once
// the server has its Handler and ConnState.
func (c *Limiter) Watch(s *http.Server, patience time.Duration) {
	s.Handler = c.handler(s.Handler, patience)
	state := s.ConnState
	s.ConnState = func(k net.Conn, now http.ConnState) {
		if now == http.StateIdle {
			c.Idle(k.RemoteAddr().String())
		}
		if state != nil {
			state(k, now)
		}
	}
}

func (c *Limiter) handler(h http.Handler, patience time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
			c.Busy(r.RemoteAddr)
			h.ServeHTTP(w, r)
			return
		}
		control := http.NewResponseController(w)
		b := &body{ReadCloser: r.Body, come: func() {
			c.Busy(r.RemoteAddr)
			if patience > 0 {
				_ = control.SetReadDeadline(time.Time{}) // where there is no connection, there is no need
			}
		}}
		if patience > 0 {
			_ = control.SetReadDeadline(time.Now().Add(patience)) // as above
		}
		r.Body = b
		h.ServeHTTP(w, r)
	})
}

// body is the body of a request, that says when it has come.
type body struct {
	io.ReadCloser

	come func()
	done bool
}

// Read reads from the body.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) && !b.done {
		b.done = true
		b.come()
	}
	return n, err
}

// The bounds of a [Share].
const (
	manyFiles  = 1 << 16
	leastShare = 8
	mostShare  = 4096
)

// eighth is the part of a process's files that one of its servers may take.
const eighth = 8

// Share is how many connections one of the servers of a process may have, so
// that the others, and its files, have their part: an eighth of the files that
// the process may have open, from 8 to 4,096.
func Share(files int) int { return min(max(files/eighth, leastShare), mostShare) }
