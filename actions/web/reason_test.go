package web

import (
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestOwnTransportTLS checks that the own transport speaks HTTP/2 where the
// host does, and HTTP/1.1 over TLS otherwise.
func TestOwnTransportTLS(t *testing.T) {
	for _, http2 := range []bool{true, false} {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(w, r.Proto+" "+r.Header.Get("Idempotency-Key"))
		}))
		server.EnableHTTP2 = http2
		server.StartTLS()
		roots := x509.NewCertPool()
		roots.AddCert(server.Certificate())
		own := newTransport(&Config{RootCAs: roots}, nil)
		c := New(Config{Transport: own})
		req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader("x")))(t)
		req.Header.Set(headerKey, "k")
		resp, err := c.transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		body := must.Get(io.ReadAll(resp.Body))(t)
		_ = resp.Body.Close()
		want := "HTTP/1.1 k"
		if http2 {
			want = "HTTP/2.0 k"
		}
		if string(body) != want {
			t.Errorf("got %q, want %q", body, want)
		}
		c.Close()
		server.Close()
	}
}
