package natsmsg

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"

	"github.com/nats-io/nats.go"
)

// socket is the network connection to a job's own server, with TLS if required. It inspects the server's bytes
// before the client sees them: the client allocates the size that a message announces, in a goroutine of its
// own, where a huge size would crash the process.
//
// The server speaks first, in plain text: an INFO line that says whether TLS follows. Over WebSocket, TLS comes
// first.
type socket struct {
	net.Conn // of the network; TLS, when that is spoken

	ctx     context.Context //nolint:containedctx // ends the handshake of TLS
	config  *tls.Config     // names the server
	secure  bool            // the job asks for TLS
	inspect interface{ feed([]byte) error }
	refused func(error) // receives the inspector's findings
	web     bool

	greeted bool   // INFO has come
	waiting []byte // of INFO, for the client
	upgrade bool   // TLS is due before anything else is sent or read
}

// Read reads from the server.
func (s *socket) Read(p []byte) (int, error) {
	if !s.web && !s.greeted {
		if err := s.greet(); err != nil {
			return 0, err
		}
	}
	if len(s.waiting) > 0 {
		n := copy(p, s.waiting)
		s.waiting = s.waiting[n:]
		return n, nil
	}
	if err := s.handshake(); err != nil {
		return 0, err
	}
	n, err := s.Conn.Read(p)
	if wrong := s.inspect.feed(p[:n]); wrong != nil {
		s.refused(wrong) // before the client makes of it that the connection was lost
		return 0, wrong
	}
	return n, err
}

// Write sends something to the server.
func (s *socket) Write(p []byte) (int, error) {
	if err := s.handshake(); err != nil {
		return 0, err
	}
	return s.Conn.Write(p)
}

// info holds the TLS fields of a server's INFO.
type info struct {
	Required  bool `json:"tls_required"`
	Available bool `json:"tls_available"`
}

// greet reads the line INFO, and no byte more: TLS may follow.
func (s *socket) greet() error {
	var line []byte
	for b := make([]byte, 1); !bytes.HasSuffix(line, []byte("\n")); line = append(line, b[0]) {
		if len(line) == maxLine {
			return errLine
		}
		if _, err := s.Conn.Read(b); err != nil {
			return err
		}
	}
	s.greeted, s.waiting = true, line
	var server info
	_, text, _ := bytes.Cut(line, []byte(" "))
	_ = json.Unmarshal(text, &server) // the client reports invalid JSON
	if s.secure && !server.Required && !server.Available {
		return nats.ErrSecureConnWanted
	}
	s.upgrade = s.secure || server.Required
	return nil
}

// handshake begins TLS when that is due.
func (s *socket) handshake() error {
	if !s.upgrade {
		return nil
	}
	s.upgrade = false
	secured := tls.Client(s.Conn, s.config)
	if err := secured.HandshakeContext(s.ctx); err != nil {
		return fmt.Errorf("%w: %w", nats.ErrTLS, err)
	}
	s.Conn = secured
	return nil
}
