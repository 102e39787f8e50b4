package web_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/web"
)

// TestSlowHeader has a host that sends its header byte by byte and never ends.
func TestSlowHeader(t *testing.T) {
	gone := make(chan struct{})
	host := raw(t, func(conn net.Conn) {
		defer close(gone)
		_ = readRequest(conn)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nSlow: ")
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			if _, err := conn.Write([]byte("x")); err != nil {
				return
			}
		}
	})
	at := attempt()
	at.Timeout = 50 * time.Millisecond
	result := actiontest.Invoke(t.Context(), mustRead(t, newClient(t, web.Config{}), "Http", uri("http://"+host)), at)
	wantFailure(t, result, host, "timed out after 50ms")
	<-gone
}

// TestSlowBody has a host whose body comes byte by byte and never ends.
func TestSlowBody(t *testing.T) {
	gone := make(chan struct{})
	server := listen(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(gone)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			if _, err := w.Write([]byte("x")); err != nil || http.NewResponseController(w).Flush() != nil {
				return
			}
		}
	})
	at := attempt()
	at.Timeout = 50 * time.Millisecond
	result := actiontest.Invoke(t.Context(), mustRead(t, newClient(t, web.Config{}), "Http", uri(server.URL)), at)
	if !result.Failed || result.Final || result.Status != 200 || !strings.Contains(result.Message, " bytes: timed out after 50ms)") {
		t.Errorf("got %+v", result)
	}
	<-gone
}

// TestNeverAnswers has a host that takes the connection and is silent.
func TestNeverAnswers(t *testing.T) {
	host := raw(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
	for _, scheme := range []string{"http://", "https://"} {
		at := attempt()
		at.Timeout = 50 * time.Millisecond
		result := actiontest.Invoke(t.Context(), mustRead(t, newClient(t, web.Config{}), "Http", uri(scheme+host)), at)
		wantFailure(t, result, host, "timed out after 50ms")
	}
}

// TestResetMidBody has a host that resets the connection within its answer.
func TestResetMidBody(t *testing.T) {
	host := raw(t, func(conn net.Conn) {
		_ = readRequest(conn)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
		_ = conn.(*net.TCPConn).SetLinger(0)
	})
	result := invoke(t, newClient(t, web.Config{}), uri("http://"+host))
	if !result.Failed || result.Final || !strings.Contains(result.Message, "connection reset by the host") {
		t.Errorf("got %+v", result)
	}
}
