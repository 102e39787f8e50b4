package node

import (
	"bytes"
	"crypto/tls"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestComplaintsOfHandshakesAreFew shows that who cannot speak TLS does not fill the log.
func TestComplaintsOfHandshakesAreFew(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		c := log.New(&complaints{log: slog.New(slog.NewTextHandler(&out, nil))}, "", 0)
		for range 1000 {
			c.Printf("http: TLS handshake error from 192.0.2.1:4711: EOF")
		}
		c.Printf("http: panic serving 192.0.2.1:4711: oh")
		time.Sleep(time.Minute)
		c.Printf("http: TLS handshake error from 192.0.2.2:4711: EOF")
		for i, want := range []string{"192.0.2.1:4711: EOF\"", "panic serving", "192.0.2.2:4711: EOF\" others=999"} {
			if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); len(lines) != 3 || !strings.Contains(lines[i], want) {
				t.Fatalf("line %d of 3 should have %q: %s", i+1, want, &out)
			}
		}
	})
}

// TestComplaintsKnowHandshakes shows that net/http tells of a failed handshake as complaints expects.
func TestComplaintsKnowHandshakes(t *testing.T) {
	told := make(chan string, 1)
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(writeFunc(func(p []byte) (int, error) {
		told <- string(p)
		return len(p), nil
	}), "", 0)
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS13}
	s.StartTLS()
	defer s.Close()
	c := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", s.Listener.Addr().String()))(t)
	c.Close()
	if line := <-told; !strings.HasPrefix(line, string(failedHandshake)) {
		t.Errorf("it says %s", line)
	}
}

type writeFunc func(p []byte) (int, error)

func (f writeFunc) Write(p []byte) (int, error) { return f(p) }
