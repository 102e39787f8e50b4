package web_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/web"
)

// TestConnectionReuse checks that answers of common kinds leave the connection
// for the next attempt.
func TestConnectionReuse(t *testing.T) {
	var connections atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(w, r, "/", http.StatusSeeOther)
		case "/failure":
			http.Error(w, "no", http.StatusInternalServerError)
		case "/long":
			_, _ = w.Write(make([]byte, 60_000))
		case "/empty":
			w.WriteHeader(http.StatusNoContent)
		default:
			_, _ = io.WriteString(w, "ok")
		}
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	client := newClient(t, web.Config{})
	for range 5 {
		for _, path := range []string{"/", "/redirect", "/failure", "/long", "/empty"} {
			invoke(t, client, fmt.Sprintf(`{"uri":%q,"method":"POST","body":"x"}`, server.URL+path))
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

// TestNoHiddenRepetition breaks a kept-alive connection after its second
// request. net/http would send a request with an Idempotency-Key again.
func TestNoHiddenRepetition(t *testing.T) {
	for _, own := range []string{"", `"headers":{"X-Idempotency-Key":"mine"},`} {
		var requests atomic.Int32
		host := actiontest.Listen(t, func(conn net.Conn) {
			for readRequest(conn) == nil && requests.Add(1) != 2 {
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
		})
		client := newClient(t, web.Config{})
		request := fmt.Sprintf(`{%s"uri":"http://%s","method":"POST"}`, own, host)
		if first := invoke(t, client, request); first.Failed {
			t.Fatal(first.Message)
		}
		wantFailure(t, invoke(t, client, request), host, "connection closed by the host")
		if n := requests.Load(); n != 2 {
			t.Errorf("%d requests, want 2", n)
		}
		client.Close()
	}
}

// TestNoProxyFromEnvironment needs a name that is not the local host's, which
// net/http never sends through a proxy.
func TestNoProxyFromEnvironment(t *testing.T) {
	proxy := listen(t, nil)
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	invoke(t, newClient(t, web.Config{}), uri("http://target.invalid/"))
	if n := len(proxy.seen()); n != 0 {
		t.Errorf("%d requests came through the proxy of the environment", n)
	}
}
