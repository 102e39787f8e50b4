package connlimit_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/listen/connlimit"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// patience bounds every wait.
const patience = 30 * time.Second

// serve serves a handler to so many connections at most.
func serve(
	t *testing.T, most int, bodies time.Duration, h http.HandlerFunc, change ...func(*connlimit.Limiter),
) (addr string, c *connlimit.Limiter) {
	t.Helper()
	c = connlimit.New(most)
	for _, f := range change {
		f(c)
	}
	s := httptest.NewUnstartedServer(h)
	c.Watch(s.Config, bodies)
	s.Listener = c.Listen(s.Listener)
	s.Start()
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.Listener.Addr().String(), c
}

// echo answers with the body.
func echo(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }

// client is a connection of a test.
type client struct {
	net.Conn

	t *testing.T
	r *bufio.Reader
}

func dial(t *testing.T, addr string) *client {
	t.Helper()
	c := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", addr))(t)
	t.Cleanup(func() { c.Close() })
	must.Do(t, c.SetDeadline(time.Now().Add(patience)))
	return &client{c, t, bufio.NewReader(c)}
}

// say sends text, whoever still reads it.
func (c *client) say(text string) *client {
	_, _ = io.WriteString(c, text)
	return c
}

// answered sees that a request is answered.
func (c *client) answered() *client {
	c.t.Helper()
	resp, err := http.ReadResponse(c.r, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		c.t.Fatalf("%s, %v", resp.Status, err)
	}
	return c
}

// ended sees that the server ends the connection without an answer.
func (c *client) ended() {
	c.t.Helper()
	if b, err := c.r.ReadByte(); err == nil {
		c.t.Fatalf("it got %q instead of an end", b)
	} else if e, ok := err.(net.Error); ok && e.Timeout() { //nolint:errorlint // as it comes
		c.t.Fatal("it was not ended")
	}
}

const (
	get  = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	slow = "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nbegin"
)

func TestLongestWaitingMakesRoom(t *testing.T) {
	addr, c := serve(t, 3, 0, echo)
	silent := dial(t, addr)
	idle := dial(t, addr).say(get).answered()
	header := dial(t, addr).say("GET / HT")
	fourth := dial(t, addr).say(get).answered()
	silent.ended()
	idle.say(get).answered() // it was silent for a shorter time than the one with half a header
	dial(t, addr).say(get).answered()
	header.ended()
	fourth.say(get).answered()
	if c.Len() > 3 || c.Evicted() != 2 {
		t.Errorf("%d connections, %d had to go", c.Len(), c.Evicted())
	}
}

func TestSlowBodiesKeepNobodyOut(t *testing.T) {
	addr, c := serve(t, 8, 0, echo)
	for range 100 {
		dial(t, addr).say(slow)
	}
	for i := range 20 {
		body := fmt.Sprintf("body %d", i)
		dial(t, addr).say(fmt.Sprintf("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)).answered()
	}
	if c.Len() > 8 {
		t.Errorf("%d connections", c.Len())
	}
}

// TestUnreadAnswersKeepNobodyOut has clients that ask and take no answer.
func TestUnreadAnswersKeepNobodyOut(t *testing.T) {
	begun := make(chan struct{})
	addr, c := serve(t, 2, patience, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/endless" {
			begun <- struct{}{}
		}
		for r.URL.Path == "/endless" {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	}, func(c *connlimit.Limiter) { c.Patience(50 * time.Millisecond) })
	for range 2 {
		dial(t, addr).say("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n")
		<-begun
	}
	dial(t, addr).say("GET / HTTP/1.1\r\nHost: a\r\n\r\n").answered()
	if c.Evicted() == 0 {
		t.Error("nobody made room")
	}
}

func TestWorkIsNotEnded(t *testing.T) {
	begun, finish := make(chan struct{}), make(chan struct{})
	addr, c := serve(t, 2, 0, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/long" {
			begun <- struct{}{}
			<-finish
		}
		echo(w, r)
	})
	long := "GET /long HTTP/1.1\r\nHost: x\r\n\r\n"
	first, second := dial(t, addr).say(long), dial(t, addr).say(long)
	<-begun
	<-begun
	third := dial(t, addr).say(get)
	if c.Evicted() != 0 {
		t.Errorf("%d had to go", c.Evicted())
	}
	finish <- struct{}{} // one of the two has its answer and is idle, and so makes room
	third.answered()
	finish <- struct{}{}
	survived := 0
	for _, worked := range []*client{first, second} {
		resp, err := http.ReadResponse(worked.r, nil)
		if err == nil {
			survived++
			resp.Body.Close()
		}
	}
	if survived != 2 {
		t.Errorf("%d of 2 were answered", survived)
	}
}

func TestBodiesHaveATime(t *testing.T) {
	addr, c := serve(t, 8, 50*time.Millisecond, func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	})
	resp, err := http.ReadResponse(dial(t, addr).say(slow).r, nil)
	if err != nil || resp.StatusCode != http.StatusBadRequest {
		t.Fatalf("%v, %v", resp, err)
	}
	resp.Body.Close()
	dial(t, addr).say(get).answered()
	if c.Evicted() != 0 {
		t.Errorf("%d had to go", c.Evicted())
	}
}

// TestCloseWhileFull ends a server that has a connection in hand for which there is no room.
func TestCloseWhileFull(t *testing.T) {
	c := connlimit.New(1)
	inner := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	l := c.Listen(inner)
	first := dial(t, inner.Addr().String())
	must.Get(l.Accept())(t)
	c.Busy(first.LocalAddr().String())
	accepted := make(chan error, 1)
	go func() {
		_, err := l.Accept()
		accepted <- err
	}()
	second := dial(t, inner.Addr().String())
	l.Close()
	if err := <-accepted; err == nil {
		t.Error("a connection was accepted beyond the limit")
	}
	second.ended()
}

func TestShare(t *testing.T) {
	for files, want := range map[int]int{16: 8, 256: 32, 1024: 128, 1 << 20: 4096} {
		if got := connlimit.Share(files); got != want {
			t.Errorf("of %d files: got %d, want %d", files, got, want)
		}
	}
}

// queue is a listener of connections within this process.
type queue chan net.Conn

func (q queue) Accept() (net.Conn, error) {
	if c, ok := <-q; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (q queue) Close() error {
	close(q)
	return nil
}

func (queue) Addr() net.Addr { return &net.TCPAddr{} }

// TestUnusedConnectionsDelayNoStop stops a server to which a client has a connection in reserve.
func TestUnusedConnectionsDelayNoStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, q := connlimit.New(2), make(queue)
		s := &http.Server{Handler: http.HandlerFunc(echo)}
		c.Watch(s, 0)
		go func() { _ = s.Serve(c.Listen(q)) }()
		client, reserve := net.Pipe()
		defer client.Close()
		q <- reserve
		synctest.Wait()
		began := time.Now()
		must.Do(t, s.Shutdown(t.Context()))
		if took := time.Since(began); took > time.Second {
			t.Errorf("the stop took %s", took)
		}
	})
}
