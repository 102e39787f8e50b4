package wire

import (
	"crypto/tls"
	"crypto/x509"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestLibraryOverWire runs the NATS client library over such connections in each of its modes: messages arrive in the
// order of each publishing goroutine, and a connection closed by the server is reestablished.
func TestLibraryOverWire(t *testing.T) {
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	certified := &tls.Config{Certificates: web.TLS.Certificates, MinVersion: tls.VersionTLS12}
	for name, with := range map[string]*tls.Config{"plain": nil, "over TLS": certified} {
		s := must.Get(server.NewServer(&server.Options{
			Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true, TLSConfig: with,
			Websocket: server.WebsocketOpts{Host: "127.0.0.1", Port: -1, TLSConfig: with, NoTLS: with == nil},
		}))(t)
		s.Start()
		t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
		if !s.ReadyForConnections(libraryPatience) {
			t.Fatal("the server is not ready")
		}
		for how, url := range map[string]string{"TCP": s.ClientURL(), "WebSocket": s.WebsocketURL()} {
			t.Run(name+" "+how, func(t *testing.T) {
				back := make(chan *nats.Conn, 16)
				options := []nats.Option{
					nats.Secure(&tls.Config{RootCAs: roots, ServerName: "127.0.0.1"}), nats.Timeout(libraryPatience),
					nats.SetCustomDialer(Dialer{Timeout: libraryPatience}), nats.ReconnectWait(time.Millisecond),
					nats.ReconnectJitter(time.Millisecond, time.Millisecond), nats.MaxReconnects(-1),
					nats.ReconnectHandler(func(nc *nats.Conn) { back <- nc }),
				}
				if with == nil {
					options = options[1:]
				}
				speak(t, s, back, func() *nats.Conn {
					return must.Get(nats.Connect(url, options...))(t)
				})
			})
		}
	}
}

// libraryPatience is the timeout of each wait.
const libraryPatience = 30 * time.Second

func speak(t *testing.T, s *server.Server, back <-chan *nats.Conn, connect func() *nats.Conn) {
	t.Helper()
	const writers, each = 8, 500
	listener, speaker := connect(), connect()
	defer listener.Close()
	sub := must.Get(listener.SubscribeSync("wire.*"))(t)
	must.Do(t, sub.SetPendingLimits(-1, -1))
	for _, nc := range []*nats.Conn{listener, speaker} { // the server closes both
		id, err := nc.GetClientID()
		if err == nil {
			err = s.DisconnectClientByID(id)
		}
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-back:
		case <-time.After(libraryPatience):
			t.Fatal("not connected again")
		}
	}
	if err := listener.FlushTimeout(libraryPatience); err != nil {
		t.Fatal("not flushed: ", err)
	}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if err := speaker.Publish("wire."+strconv.Itoa(w), []byte(strconv.Itoa(i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	// Close alone is not enough: if the server sends data that is not read, the system drops data that the server has
	// not read.
	must.Do(t, speaker.FlushTimeout(libraryPatience))
	speaker.Close()
	next := map[string]int{}
	for range writers * each {
		m, err := sub.NextMsg(libraryPatience)
		if err != nil {
			t.Fatalf("%v behind %v", err, next)
		}
		if want := strconv.Itoa(next[m.Subject]); string(m.Data) != want {
			t.Fatalf("%s: %s came when %s was next", m.Subject, m.Data, want)
		}
		next[m.Subject]++
	}
}
