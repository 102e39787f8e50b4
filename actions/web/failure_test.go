package web_test

import (
	"io"
	"net"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/scheduler"
)

// wantFailure checks the result of an attempt without an answer.
func wantFailure(t *testing.T, result scheduler.Result, host, reason string) {
	t.Helper()
	want := "Http Action - Request to host '" + host + "' failed: " + reason
	if !result.Failed || result.Final || result.Status != 0 || result.Response != "" || result.Message != want {
		t.Errorf("got  %+v\nwant %s", result, want)
	}
}

// readRequest reads one request without a body.
func readRequest(conn net.Conn) error {
	var request strings.Builder
	b := make([]byte, 1)
	for !strings.HasSuffix(request.String(), "\r\n\r\n") {
		if _, err := conn.Read(b); err != nil {
			return err
		}
		request.Write(b)
	}
	return nil
}

func TestNotHTTP(t *testing.T) {
	host := actiontest.Listen(t, func(conn net.Conn) {
		_ = readRequest(conn)
		_, _ = io.WriteString(conn, "220 mail.example ESMTP\r\n")
	})
	wantFailure(t, invoke(t, newClient(t, web.Config{}), uri("http://"+host)), host,
		`malformed HTTP status code "mail.example"`)
}

func TestHugeHeader(t *testing.T) {
	host := actiontest.Listen(t, func(conn net.Conn) {
		_ = readRequest(conn)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nA: "+strings.Repeat("x", 1<<20))
	})
	wantFailure(t, invoke(t, newClient(t, web.Config{}), uri("http://"+host)), host,
		"server response headers exceeded 65536 bytes; aborted")
}

// TestSwitchingProtocols has an answer that hands over the connection, which
// nothing but closing it would end.
func TestSwitchingProtocols(t *testing.T) {
	closed := make(chan struct{})
	host := actiontest.Listen(t, func(conn net.Conn) {
		_ = readRequest(conn)
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn)
		close(closed)
	})
	result := invoke(t, newClient(t, web.Config{}), uri("http://"+host))
	if !result.Failed || result.Status != 101 {
		t.Errorf("got %+v", result)
	}
	<-closed
}

func TestBodyBreaksOff(t *testing.T) {
	host := actiontest.Listen(t, func(conn net.Conn) {
		_ = readRequest(conn)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
	})
	result := invoke(t, newClient(t, web.Config{}), uri("http://"+host))
	want := "': 'OK' (the body broke off after 3 bytes: connection closed by the host) Response Headers: Content-Length: 10\r\n Body: abc"
	if !result.Failed || result.Status != 200 || result.Response != "abc" || !strings.HasSuffix(result.Message, want) {
		t.Errorf("got %+v", result)
	}
}

// TestNotTLS has hosts that speak something else.
func TestNotTLS(t *testing.T) {
	mute := actiontest.Listen(t, func(conn net.Conn) { _, _ = io.WriteString(conn, "220 mail.example ESMTP\r\n") })
	for host, want := range map[string]string{
		listen(t, nil).Listener.Addr().String(): "TLS: the host answers in plain HTTP",
		mute:                                    "TLS: the host does not speak TLS",
	} {
		wantFailure(t, invoke(t, newClient(t, web.Config{}), uri("https://"+host)), host, want)
	}
}
