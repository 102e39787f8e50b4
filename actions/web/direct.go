//go:build unix

package web

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/carillon-sched/carillon/actions/egress"
)

// direct sends short requests over plain HTTP/1.1 on the caller's goroutine, which costs a third less than net/http's two
// goroutines for each connection. The Transport has the settings, and sends all other requests.
type direct struct {
	*http.Transport

	mu    sync.Mutex
	idle  map[string][]*persistConn // by address, in the order of their last use
	total int                       // of idle
}

func newDirect(t *http.Transport) transport {
	return &direct{Transport: t, idle: map[string][]*persistConn{}}
}

// persistConn is a connection of [direct].
type persistConn struct {
	net.Conn

	raw     syscall.RawConn
	address string
	in      io.LimitedReader // reads the connection
	buffer  *bufio.Reader    // reads in
	stop    func() bool      // detaches the connection from the request's context; false: that has ended
	used    time.Time        // last use, of the wall clock: the process may have been suspended
	expiry  *time.Timer      // closes it if idle; nil: not used before
}

// maxDirectBody limits request bodies in bytes. A socket accepts more even if the host reads nothing, so that writing never
// delays an early answer.
const maxDirectBody = 16 << 10

// takes reports whether d itself sends req. The Transport refuses invalid ones.
func (d *direct) takes(req *http.Request) bool {
	h := req.Header
	invalid := func(value string) bool { return !httpguts.ValidHeaderFieldValue(value) }
	for name, values := range h {
		if !httpguts.ValidHeaderFieldName(name) || slices.ContainsFunc(values, invalid) {
			return false
		}
	}
	return d.Proxy == nil && req.URL.Scheme == "http" && req.URL.Host != "" && slices.Contains(methods, req.Method) &&
		req.ContentLength <= maxDirectBody && (req.ContentLength > 0 || req.Body == nil || req.Body == http.NoBody) &&
		h["Connection"] == nil && h["Expect"] == nil && h["Upgrade"] == nil
}

var requestBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// RoundTrip implements [http.RoundTripper].
func (d *direct) RoundTrip(req *http.Request) (*http.Response, error) {
	if !d.takes(req) {
		return d.Transport.RoundTrip(req)
	}
	out := requestBuffers.Get().(*bytes.Buffer)
	defer requestBuffers.Put(out)
	out.Reset()
	if err := req.Write(out); err != nil {
		return nil, err
	}
	for {
		l, err := d.getConn(req.Context(), egress.Address(req.URL))
		if err != nil {
			return nil, err
		}
		resp, unseen, err := d.exchange(l, req, out.Bytes())
		if err == nil {
			return resp, nil
		}
		d.release(l, false)
		if !unseen || l.expiry == nil || req.Context().Err() != nil {
			return nil, err
		}
	}
}

// getConn returns the idle connection to an address that was used last, or opens one.
func (d *direct) getConn(ctx context.Context, address string) (*persistConn, error) {
	d.mu.Lock()
	conns := d.idle[address]
	if i := len(conns) - 1; i >= 0 && time.Since(conns[i].used) < d.IdleConnTimeout {
		defer d.mu.Unlock()
		d.total--
		d.idle[address] = conns[:i]
		return conns[i], nil
	}
	d.mu.Unlock()
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	l := &persistConn{Conn: conn, address: address, in: io.LimitedReader{R: conn}}
	l.buffer = bufio.NewReader(&l.in)
	l.raw, err = conn.(syscall.Conn).SyscallConn()
	return l, err
}

// send writes out, a request. A reused connection that the host has closed, or has sent something on, gets nothing. It waits
// there for an answer, because it is known that none had come. Reading repeats the error of a wait.
func (l *persistConn) send(out []byte) (written int, err error) {
	waited := false
	_ = l.raw.Read(func(fd uintptr) bool {
		if waited {
			return true
		}
		if l.expiry != nil {
			if _, idle := syscall.Read(int(fd), make([]byte, 1)); idle != syscall.EAGAIN {
				err = io.EOF
				return true
			}
		}
		written, err = l.Write(out)
		waited = err == nil && l.expiry != nil
		return !waited
	})
	return written, err
}

// exchange sends out, the request, and reads the header of the answer. As in net/http, a failed request may be repeated if
// unseen: the host cannot have read it, or it is safe and not a byte has come back.
func (d *direct) exchange(l *persistConn, req *http.Request, out []byte) (resp *http.Response, unseen bool, err error) {
	l.stop = context.AfterFunc(req.Context(), func() { _ = l.SetDeadline(time.Unix(1, 0)) })
	l.in.N = d.MaxResponseHeaderBytes
	written, failed := l.send(out)
	if failed != nil && written == 0 && l.expiry != nil {
		return nil, true, failed
	} // else the host may have answered before
	for resp == nil || resp.StatusCode/100 == 1 && resp.StatusCode != http.StatusSwitchingProtocols {
		if resp, err = http.ReadResponse(l.buffer, req); err != nil {
			if l.in.N <= 0 {
				err = fmt.Errorf("net/http: server response headers exceeded %d bytes; aborted", d.MaxResponseHeaderBytes)
			}
			safe := req.Method == http.MethodGet || req.Method == http.MethodHead || req.Method == http.MethodOptions
			return nil, written == 0 || safe && l.in.N == d.MaxResponseHeaderBytes, cmp.Or(failed, err)
		}
	}
	l.in.N = math.MaxInt64
	keep := failed == nil && !resp.Close && resp.StatusCode >= http.StatusOK
	end := func(complete bool) {
		if l != nil {
			d.release(l, keep && complete)
			l = nil
		}
	}
	if req.Method == http.MethodHead || resp.ContentLength == 0 {
		end(true)
	} else {
		resp.Body = &answer{resp.Body, end}
	}
	return resp, false, nil
}

// release keeps a connection for the next request, within the limits of the Transport, or closes it.
func (d *direct) release(l *persistConn, keep bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	conns := d.idle[l.address]
	if !l.stop() || !keep || l.buffer.Buffered() > 0 || len(conns) >= d.MaxIdleConnsPerHost || d.total >= d.MaxIdleConns {
		_ = l.Close()
		return
	}
	d.total++
	d.idle[l.address], l.used = append(conns, l), time.Now().Round(0)
	if l.expiry == nil {
		l.expiry = time.AfterFunc(d.IdleConnTimeout, func() { d.expire(l) })
	}
	l.expiry.Reset(d.IdleConnTimeout)
}

// expire closes a connection if it is idle.
func (d *direct) expire(l *persistConn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.Index(d.idle[l.address], l); i >= 0 {
		d.total--
		d.idle[l.address] = slices.Delete(d.idle[l.address], i, i+1)
		_ = l.Close()
	}
	if len(d.idle[l.address]) == 0 {
		delete(d.idle, l.address)
	}
}

// CloseIdleConnections closes the connections that no request uses.
func (d *direct) CloseIdleConnections() {
	d.Transport.CloseIdleConnections()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, conns := range d.idle {
		for _, l := range conns {
			_ = l.Close()
		}
	}
	clear(d.idle)
	d.total = 0
}

// answer is a response body that releases its connection.
type answer struct {
	io.ReadCloser

	end func(complete bool)
}

func (a *answer) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if err != nil {
		a.end(err == io.EOF)
	}
	return n, err
}

func (a *answer) Close() error {
	a.end(false)
	return nil
}
