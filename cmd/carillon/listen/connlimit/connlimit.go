// Package connlimit limits the connections of a server, so that slow or idle clients neither exhaust the
// process's open files nor block others.
//
// At the limit, a new connection replaces the one that has kept the server waiting longest: for its first
// request, for the rest of a request, for the next request, or, after some seconds, for reading its response. A
// connection whose request is being processed is never closed otherwise. If all are, new connections wait in the
// system's backlog.
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
	taken time.Duration // deadline for reading a response while other connections need the slot

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

// Busy marks the connection of a remote address as being processed, and Idle as waiting for the client.
// Connections of other servers are ignored.
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

// begin notes that a request has begun on a connection.
func (c *Limiter) begin(remote string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.conns[remote]; k != nil {
		k.begun = true
	}
}

// unusedGrace is how long a stopping server waits for the first request of a connection. Clients open connections in reserve,
// and [http.Server.Shutdown] alone would wait five seconds for each.
const unusedGrace = 250 * time.Millisecond

// closeUnused closes the connections on which no request has begun.
func (c *Limiter) closeUnused() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.conns {
		if !k.begun {
			_ = k.Conn.Close()
		}
	}
}

// wake lets those look again that wait for room. The lock is held.
func (c *Limiter) wake() {
	close(c.freed)
	c.freed = make(chan struct{})
}

// admit adds a connection, or returns nil and a channel to wait on. The caller must close an evicted connection.
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
	begun   bool      // a request has
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

// waited reports whether and since when the server waits for the client. For a connection being processed, that
// is since the deadline for reading the response. The caller holds the limiter's lock.
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

// Watch makes a server on the limiter's listener report which connections it waits for: until a request's body
// has arrived, and after its response is sent. A shutdown of the server closes unused connections. Bodies must arrive
// within patience; 0 leaves the limit to the server. Call it after setting the server's Handler and ConnState.
func (c *Limiter) Watch(s *http.Server, patience time.Duration) {
	s.Handler = c.handler(s.Handler, patience)
	s.RegisterOnShutdown(func() { time.AfterFunc(unusedGrace, c.closeUnused) })
	state := s.ConnState
	s.ConnState = func(k net.Conn, now http.ConnState) {
		switch now { //nolint:exhaustive // the others change nothing
		case http.StateActive:
			c.begin(k.RemoteAddr().String())
		case http.StateIdle:
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
				_ = control.SetReadDeadline(time.Time{}) // not needed without a connection
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
