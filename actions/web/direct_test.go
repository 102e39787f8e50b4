//go:build unix

package web

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"reflect"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

const goodAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

// heard is what a caller sees of an exchange.
type heard struct {
	Status, Proto   string
	Header, Trailer http.Header
	Length          int64
	Transfer        []string
	Body            string
	Failed          bool
}

// call sends a request by t and reads the answer to its end.
func call(tb testing.TB, t http.RoundTripper, method, host, body string) (heard, error) {
	tb.Helper()
	resp, err := t.RoundTrip(must.Get(http.NewRequestWithContext(tb.Context(), method, "http://"+host, strings.NewReader(body)))(tb))
	if err != nil {
		return heard{Failed: true}, err
	}
	defer resp.Body.Close()
	h := heard{Status: resp.Status, Proto: resp.Proto, Header: resp.Header, Length: resp.ContentLength, Transfer: resp.TransferEncoding}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return h, nil // net/http hands over the connection as its body
	}
	read, err := io.ReadAll(resp.Body)
	h.Body, h.Failed, h.Trailer = string(read), err != nil, resp.Trailer
	return h, err
}

// open reports whether answer, to a request with that method, leaves its connection open, and its end is known without it.
func open(method string, answer []byte) bool {
	r := bufio.NewReader(bytes.NewReader(answer))
	for {
		resp, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil {
			return false
		}
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode/100 != 1 {
			return err == nil && !resp.Close
		}
	}
}

// FuzzDirect lets a host answer with any bytes. The answer must be that of net/http, and no byte of it the answer to the
// next request.
func FuzzDirect(f *testing.F) {
	for _, answer := range []string{
		goodAnswer, goodAnswer + "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen", "", "HTTP/1.1 ", "220 mail.example ESMTP\r\n",
		"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + goodAnswer, "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 099 \r\n\r\n" + goodAnswer,
		"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nraw",
		"HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 304 Not Modified\r\nEtag: x\r\n\r\n",
		"HTTP/1.0 200 OK\r\n\r\nuntil the end", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\n\r\n2\r\nok\r\n0\r\nA: b\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nA: b", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 200 OK\r\n A: b\r\n\r\n",
		"HTTP/1.1 200 OK\r\nA: " + strings.Repeat("x", 64<<10) + "\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 70000\r\n\r\n" + strings.Repeat("x", 70000),
	} {
		for method := range methods {
			f.Add([]byte(answer), uint8(method))
		}
	}
	log.SetOutput(io.Discard) // net/http reports unexpected answers
	f.Cleanup(func() { log.SetOutput(os.Stderr) })
	type script struct {
		answer []byte
		open   bool // leave the connection open
	}
	var current atomic.Pointer[script]
	host := actiontest.Listen(f, func(conn net.Conn) {
		for r := bufio.NewReader(conn); ; {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			now := current.Load()
			if req.URL.Path == "/next" {
				_, _ = io.WriteString(conn, goodAnswer)
			} else if _, _ = conn.Write(now.answer); !now.open {
				return
			}
		}
	})
	f.Fuzz(func(t *testing.T, answer []byte, way uint8) {
		method := methods[int(way)%len(methods)]
		current.Store(&script{answer, open(method, answer)})
		plain, d := egress.Route{}.Transport(nil), newDirect(egress.Route{}.Transport(nil))
		defer plain.CloseIdleConnections()
		defer d.CloseIdleConnections()
		want, wantErr := call(t, plain, method, host, "x")
		got, err := call(t, d, method, host, "x")
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v, %v\nwant %+v, %v", got, err, want, wantErr)
		}
		if next, err := call(t, d, http.MethodPost, host+"/next", ""); next.Body != "ok" {
			t.Errorf("the next answer: %+v, %v", next, err)
		}
	})
}

// TestDirectTakes checks which requests bypass net/http.
func TestDirectTakes(t *testing.T) {
	for name, change := range map[string]func(*direct, *http.Request){
		"":           func(*direct, *http.Request) {},
		"proxy":      func(d *direct, _ *http.Request) { d.Proxy = http.ProxyURL(nil) },
		"https":      func(_ *direct, r *http.Request) { r.URL.Scheme = "https" },
		"no host":    func(_ *direct, r *http.Request) { r.URL.Host = "" },
		"method":     func(_ *direct, r *http.Request) { r.Method = "A B" },
		"long body":  func(_ *direct, r *http.Request) { r.ContentLength = maxDirectBody + 1 },
		"no length":  func(_ *direct, r *http.Request) { r.ContentLength = -1 },
		"connection": func(_ *direct, r *http.Request) { r.Header.Set("Connection", "x") },
		"expect":     func(_ *direct, r *http.Request) { r.Header.Set("Expect", "100-continue") },
		"upgrade":    func(_ *direct, r *http.Request) { r.Header.Set("Upgrade", "h2c") },
		"name":       func(_ *direct, r *http.Request) { r.Header["A B"] = []string{"x"} },
		"value":      func(_ *direct, r *http.Request) { r.Header.Set("A", "x\r\nB: y") },
	} {
		d := &direct{Transport: egress.Route{}.Transport(nil)}
		req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, "http://h/", strings.NewReader("x")))(t)
		change(d, req)
		if d.takes(req) != (name == "") {
			t.Errorf("%q: got %v", name, d.takes(req))
		}
	}
}

// idleLine returns the only idle connection of d.
func idleLine(t *testing.T, d *direct) *persistConn {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, lines := range d.idle {
		if len(lines) == 1 && d.total == 1 {
			return lines[0]
		}
	}
	t.Fatal("there is not one idle connection")
	return nil
}

// TestDirectUnusable has hosts that close an idle connection, or send what nothing has asked for. A POST goes by another
// connection.
func TestDirectUnusable(t *testing.T) {
	for _, late := range []string{"", "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n"} {
		say, connections := make(chan struct{}), make(chan struct{}, 3)
		host := actiontest.Listen(t, func(conn net.Conn) {
			connections <- struct{}{}
			_, _ = http.ReadRequest(bufio.NewReader(conn))
			_, _ = io.WriteString(conn, goodAnswer)
			<-say
			_, _ = io.WriteString(conn, late)
		})
		d := newDirect(egress.Route{}.Transport(nil)).(*direct)
		must.Get(call(t, d, http.MethodPost, host, ""))(t)
		close(say)
		err := idleLine(t, d).raw.Read(func(fd uintptr) bool { // waits until it has come
			_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK)
			return err != syscall.EAGAIN
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := call(t, d, http.MethodPost, host, ""); got.Body != "ok" {
			t.Errorf("after %q: got %+v, %v", late, got, err)
		}
		if n := len(connections); n != 2 {
			t.Errorf("after %q: %d connections", late, n)
		}
		d.CloseIdleConnections()
	}
}

// TestDirectRepeats has a host that takes the second request of each connection without an answer.
func TestDirectRepeats(t *testing.T) {
	for method, want := range map[string]int{
		http.MethodGet: 3, http.MethodOptions: 3, http.MethodPost: 2, http.MethodPut: 2, http.MethodDelete: 2,
	} {
		requests := make(chan string, 10)
		host := actiontest.Listen(t, func(conn net.Conn) {
			r := bufio.NewReader(conn)
			for i := range 2 {
				req, err := http.ReadRequest(r)
				if err != nil {
					return
				}
				requests <- req.Method
				if i == 0 {
					_, _ = io.WriteString(conn, goodAnswer)
				}
			}
		})
		d := newDirect(egress.Route{}.Transport(nil))
		must.Get(call(t, d, method, host, ""))(t)
		_, err := call(t, d, method, host, "")
		if got := len(requests); got != want || (err == nil) != (want == 3) {
			t.Errorf("%s: %d requests, want %d: %v", method, got, want, err)
		}
		d.CloseIdleConnections()
	}
}

// TestDirectEarlyAnswer has a host that answers and closes before it reads.
func TestDirectEarlyAnswer(t *testing.T) {
	host := actiontest.Listen(t, func(conn net.Conn) {
		_, _ = io.WriteString(conn, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n")
		_ = conn.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, conn)
	})
	d := newDirect(egress.Route{}.Transport(nil))
	defer d.CloseIdleConnections()
	if got, err := call(t, d, http.MethodPost, host, strings.Repeat("x", maxDirectBody)); got.Status != "413 Content Too Large" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestDirectIdle checks the limits of idle connections: the host sees which are closed.
func TestDirectIdle(t *testing.T) {
	for name, test := range map[string]struct {
		set    func(*http.Transport)
		act    func(*direct)
		closed int
	}{
		"kept":     {func(*http.Transport) {}, func(*direct) {}, 0},
		"per host": {func(t *http.Transport) { t.MaxIdleConnsPerHost = 1 }, func(*direct) {}, 2},
		"total":    {func(t *http.Transport) { t.MaxIdleConns = 2 }, func(*direct) {}, 1},
		"timeout":  {func(t *http.Transport) { t.IdleConnTimeout = 1 }, func(*direct) {}, 3},
		"closed":   {func(*http.Transport) {}, (*direct).CloseIdleConnections, 3},
	} {
		t.Run(name, func(t *testing.T) {
			const all = 3
			arrived, answer, closed := make(chan struct{}, all), make(chan struct{}), make(chan struct{}, all)
			host := actiontest.Listen(t, func(conn net.Conn) {
				r := bufio.NewReader(conn)
				_, _ = http.ReadRequest(r)
				arrived <- struct{}{}
				<-answer
				_, _ = io.WriteString(conn, goodAnswer)
				if _, err := r.ReadByte(); err == io.EOF {
					closed <- struct{}{}
				}
			})
			transport := egress.Route{}.Transport(nil)
			test.set(transport)
			d := newDirect(transport).(*direct)
			done := make(chan error, all)
			for range all {
				go func() {
					_, err := call(t, d, http.MethodGet, host, "")
					done <- err
				}()
			}
			for range all {
				<-arrived
			}
			close(answer)
			for range all {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
			test.act(d)
			for range test.closed {
				<-closed
			}
			d.mu.Lock()
			if want := all - test.closed; d.total != want || len(d.idle[host]) != want {
				t.Errorf("%d idle, %d of the host, want %d", d.total, len(d.idle[host]), want)
			}
			d.mu.Unlock()
			d.CloseIdleConnections()
		})
	}
}

// TestDirectCanceled ends the context of a request that waits on a connection, new or reused. The connection is closed.
func TestDirectCanceled(t *testing.T) {
	for reused := range 2 {
		waiting, closed := make(chan struct{}), make(chan error)
		host := actiontest.Listen(t, func(conn net.Conn) {
			r := bufio.NewReader(conn)
			for range reused {
				_, _ = http.ReadRequest(r)
				_, _ = io.WriteString(conn, goodAnswer)
			}
			_, _ = http.ReadRequest(r)
			close(waiting)
			_, err := r.ReadByte()
			closed <- err
		})
		d := newDirect(egress.Route{}.Transport(nil))
		for range reused {
			must.Get(call(t, d, http.MethodGet, host, ""))(t)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-waiting; cancel() }()
		resp, err := d.RoundTrip(must.Get(http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host, http.NoBody))(t))
		if err == nil {
			resp.Body.Close()
			t.Error("it has an answer")
		}
		if err := <-closed; !errors.Is(err, io.EOF) {
			t.Errorf("the connection: %v", err)
		}
	}
}
