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

// socket is the network connection to a job's own server, with TLS where that is
// due. It is here, and not in the client, so that what the server sends is looked
// at before the client sees it: a message that says it has more bytes than there
// can be ends the process, as the client makes room for them in a goroutine of
// its own.
//
// The server speaks first, in plain: a line INFO that says whether it speaks TLS
// from then on. Over web sockets, TLS comes before all else.
type socket struct {
	net.Conn // of the network; TLS, when that is spoken

	ctx     context.Context //nolint:containedctx // ends the handshake of TLS
	config  *tls.Config     // names the server
	secure  bool            // the job asks for TLS
	inspect interface{ feed([]byte) error }
	refused func(error) // is told what that has found
	web     bool

	greeted bool   // INFO has come
	waiting []byte // of INFO, for the client
	upgrade bool   // TLS is due before anything else is sent or read
}

// Read reads what the server sends.
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

// info is what a server says of TLS.
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
	_ = json.Unmarshal(text, &server) // the client says what is wrong with it
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
