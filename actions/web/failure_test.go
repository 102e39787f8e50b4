package web_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/integration/freeport"
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

// raw starts a TCP server that hands each connection to serve and closes it.
func raw(t *testing.T, serve func(net.Conn)) (host string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serve(conn)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
	})
	return listener.Addr().String()
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

func TestConnectionRefused(t *testing.T) {
	host := freeport.Address(t)
	wantFailure(t, invoke(t, newClient(t, web.Config{}), uri("http://"+host)), host, "connection refused")
}

func TestConnectionReset(t *testing.T) {
	host := raw(t, func(conn net.Conn) {
		_ = readRequest(conn)
		_ = conn.(*net.TCPConn).SetLinger(0)
	})
	wantFailure(t, invoke(t, newClient(t, web.Config{}), uri("http://"+host)), host, "connection reset by the host")
}

func TestConnectionClosed(t *testing.T) {
	host := raw(t, func(conn net.Conn) { _ = readRequest(conn) })
	wantFailure(t, invoke(t, newClient(t, web.Config{}), uri("http://"+host)), host, "connection closed by the host")
}

func TestNotHTTP(t *testing.T) {
	host := raw(t, func(conn net.Conn) {
		_ = readRequest(conn)
		_, _ = io.WriteString(conn, "220 mail.example ESMTP\r\n")
	})
	wantFailure(t, invoke(t, newClient(t, web.Config{}), uri("http://"+host)), host,
		`malformed HTTP status code "mail.example"`)
}

func TestHugeHeader(t *testing.T) {
	host := raw(t, func(conn net.Conn) {
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
	host := raw(t, func(conn net.Conn) {
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
	host := raw(t, func(conn net.Conn) {
		_ = readRequest(conn)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
	})
	result := invoke(t, newClient(t, web.Config{}), uri("http://"+host))
	want := "': 'OK' (the body broke off after 3 bytes: connection closed by the host) Response Headers: Content-Length: 10\r\n Body: abc"
	if !result.Failed || result.Status != 200 || result.Response != "abc" || !strings.HasSuffix(result.Message, want) {
		t.Errorf("got %+v", result)
	}
}

func TestTLS(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = discardLog
	secure.StartTLS()
	defer secure.Close()
	plain := listen(t, nil)
	mute := raw(t, func(conn net.Conn) { _, _ = io.WriteString(conn, "220 mail.example ESMTP\r\n") })
	for _, test := range [][2]string{
		{secure.URL, "TLS: certificate signed by unknown authority"},
		{"https://" + plain.Listener.Addr().String(), "TLS: the host answers in plain HTTP"},
		{"https://" + mute, "TLS: the host does not speak TLS"},
	} {
		action := mustRead(t, newClient(t, web.Config{}), "Https", uri(test[0]))
		wantFailure(t, actiontest.Invoke(t.Context(), action, attempt()), strings.TrimPrefix(test[0], "https://"), test[1])
	}
}

func TestInterruptions(t *testing.T) {
	actiontest.Interruptions(t, func(t *testing.T, transport http.RoundTripper) scheduler.Action {
		t.Helper()
		return mustRead(t, web.New(web.Config{Transport: transport}), "Http", uri("http://h/"))
	}, func(t *testing.T, result scheduler.Result, reason string) {
		t.Helper()
		wantFailure(t, result, "h", reason)
	})
}

// TestHungServer checks on real sockets that an attempt ends at its deadline
// and takes the request with it: before the answer, and within the body.
func TestHungServer(t *testing.T) {
	for path, want := range map[string]string{
		"/silent": "failed: timed out after 50ms",
		"/body":   "': 'OK' (the body broke off after 5 bytes: timed out after 50ms) Response Headers:",
	} {
		t.Run(path, func(t *testing.T) {
			gone := make(chan struct{})
			server := listen(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/body" {
					_, _ = io.WriteString(w, "begun")
					_ = http.NewResponseController(w).Flush()
				}
				<-r.Context().Done()
				close(gone)
			})
			at := attempt()
			at.Timeout = 50 * time.Millisecond
			result := actiontest.Invoke(t.Context(), mustRead(t, newClient(t, web.Config{}), "Http", uri(server.URL+path)), at)
			if !result.Failed || !strings.Contains(result.Message, want) {
				t.Errorf("got %+v", result)
			}
			<-gone
		})
	}
}

// TestAlreadyCanceled sends nothing.
func TestAlreadyCanceled(t *testing.T) {
	server := listen(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	result := actiontest.Invoke(ctx, mustRead(t, newClient(t, web.Config{}), "Http", fmt.Sprintf(`{"uri":%q,"method":"POST","body":"x"}`, server.URL)), attempt())
	wantFailure(t, result, server.Listener.Addr().String(), "canceled: context canceled")
	if n := len(server.seen()); n != 0 {
		t.Errorf("%d requests", n)
	}
}
