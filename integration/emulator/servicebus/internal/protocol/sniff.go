package protocol

import (
	"crypto/tls"
	"net"
	"sync"
)

// tlsHandshake is the first byte of every TLS connection, and of nothing else that is served.
const tlsHandshake = 0x16

// Sniff returns a connection that speaks TLS if its first byte says so and config is not nil. That byte is read when the
// connection first is, so Sniff itself does not block.
func Sniff(socket net.Conn, config *tls.Config) net.Conn {
	if config == nil {
		return socket
	}
	return &sniffed{Conn: socket, config: config}
}

// Secure reports whether a connection from [Sniff] speaks TLS. It does not know before the first was read.
func Secure(socket net.Conn) bool {
	s, ok := socket.(*sniffed)
	if !ok {
		return false
	}
	_, secure := s.secure.(*tls.Conn)
	return secure
}

// sniffed is a connection that decides at its first Read what it is. Nothing is written before something was read.
type sniffed struct {
	net.Conn

	config *tls.Config
	once   sync.Once
	secure net.Conn // the connection through TLS, or as it is with its first byte
	err    error
}

func (s *sniffed) decide() {
	first := make([]byte, 1)
	if _, s.err = s.Conn.Read(first); s.err != nil {
		return
	}
	replay := &replayed{Conn: s.Conn, first: first}
	if first[0] == tlsHandshake {
		s.secure = tls.Server(replay, s.config)
	} else {
		s.secure = replay
	}
}

// Read reads from the connection, through TLS if it is spoken.
func (s *sniffed) Read(b []byte) (int, error) {
	s.once.Do(s.decide)
	if s.err != nil {
		return 0, s.err
	}
	return s.secure.Read(b)
}

// Write writes to the connection, through TLS if it is spoken.
func (s *sniffed) Write(b []byte) (int, error) {
	s.once.Do(s.decide)
	if s.err != nil {
		return 0, s.err
	}
	return s.secure.Write(b)
}

// replayed is a connection of which the first byte has been read already.
type replayed struct {
	net.Conn

	first []byte
}

func (r *replayed) Read(b []byte) (int, error) {
	if len(r.first) > 0 && len(b) > 0 {
		n := copy(b, r.first)
		r.first = r.first[n:]
		return n, nil
	}
	return r.Conn.Read(b)
}
