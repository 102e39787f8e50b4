package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestStartsLater tells servers that are still starting from those that never let this process in.
func TestStartsLater(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"nobody listens":        {nats.ErrNoServers, true},
		"the name is not known": {&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "n1", IsNotFound: true}}, true},
		"no answer":             {nats.ErrTimeout, true},
		"closed at once":        {fmt.Errorf("read: %w", io.EOF), true},
		"wrong password":        {nats.ErrAuthorization, false},
		"another program":       {&notNATSError{"127.0.0.1:80", "HTTP"}, false},
		"wrong certificate":     {&tls.CertificateVerificationError{Err: errors.New("unknown authority")}, false},
		"certificate not taken": {&net.OpError{Op: "remote error", Err: errors.New("tls: bad certificate")}, false},
	} {
		if got := startsLater(natsConn{URL: "nats://n1"}.explain(test.err, startup{})); got != test.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// TestProtocolAt asks what is there: a server that speaks HTTP, one of AMQP, NATS, which speaks first, and nobody.
func TestProtocolAt(t *testing.T) {
	for says, want := range map[string]string{
		"HTTP/1.1 400 Bad Request\r\n\r\n": "HTTP", "AMQP\x03\x01\x00\x00": "AMQP", "INFO {}\r\n": "", "": "",
	} {
		l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		go func() {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 64))
			_, _ = conn.Write([]byte(says))
			_ = conn.Close()
		}()
		if got := protocolAt(t.Context(), l.Addr().String()); got != want {
			t.Errorf("%q: got %q, want %q", says, got, want)
		}
		_ = l.Close()
		if got := protocolAt(t.Context(), l.Addr().String()); got != "" {
			t.Errorf("nobody: got %q", got)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := protocolAt(ctx, "127.0.0.1:1"); got != "" {
		t.Errorf("stopped: got %q", got)
	}
}

// TestCheckURLs reads lists of servers.
func TestCheckURLs(t *testing.T) {
	for list, good := range map[string]bool{
		"nats://127.0.0.1:4222": true, "127.0.0.1": true, "n1,n2:4223, tls://n3": true, "ws://n1:80": true, "nats://u:p@[::1]:4222": true,
		"": false, "nats://": false, "http://127.0.0.1:8080": false, "127.0.0.1:99999": false, "n1,,n2": false, "nats://u:p q@h": false,
	} {
		err := checkURLs(list)
		if good != (err == nil) || err != nil && terminal.ExitCode(err) != terminal.ExitUsage {
			t.Errorf("%q: %v", list, err)
		}
	}
}
