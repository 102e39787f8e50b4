package natsmsg

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
)

// socket is the network connection to a job's own server, with TLS if required. It inspects the server's bytes
// before the client sees them: the client allocates the size that a message announces, in a goroutine of its
// own, where a huge size would crash the process.
//
// The server speaks first, in plain text: an INFO line, which states whether TLS follows. Over WebSocket, TLS comes
// first.
type socket struct {
	net.Conn // of the network; TLS, when that is spoken

	ctx     context.Context //nolint:containedctx // ends the handshake of TLS
	config  *tls.Config     // names the server
	secure  bool            // the job requires TLS
	inspect interface{ feed([]byte) error }
	refused func(error) // receives the inspector's findings
	web     bool

	greeted bool   // INFO was received
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

// Limits of data from a job's own server. The client allocates the size that a message announces before it
// arrives, and buffers lines until they end.
const (
	maxLine    = 64 << 10 // bytes of a line, such as INFO; servers send some KiB in large clusters
	maxPayload = 8 << 20  // bytes of a message, the most that the documentation of NATS recommends
	maxHeaders = 64 << 10 // bytes of its headers, which the client reads into a map
)

// inspector parses the bytes from a server (NATS Client Protocol), as the client will.
type inspector struct {
	line []byte
	skip int64 // bytes of a payload that are still to come
	rest bool  // of the line behind a payload, which the client leaves out
}

var errHeaders = fmt.Errorf("the server sends a message with headers of more than %d bytes", maxHeaders)

var errLine = fmt.Errorf("the server sends a line of more than %d bytes", maxLine)

// feed parses received bytes. Its error says why the client must not see them.
func (in *inspector) feed(b []byte) error {
	for len(b) > 0 {
		if in.skip > 0 {
			n := min(in.skip, int64(len(b)))
			in.skip -= n
			b = b[n:]
			continue
		}
		end := bytes.IndexByte(b, '\n')
		part := b
		if end >= 0 {
			part = b[:end]
		}
		if !in.rest {
			if len(in.line)+len(part) > maxLine {
				return errLine
			}
			in.line = append(in.line, part...)
		}
		if end < 0 {
			return nil
		}
		b = b[end+1:]
		if in.rest {
			in.rest = false
			continue
		}
		if err := in.classify(strings.TrimSuffix(string(in.line), "\r")); err != nil {
			return err
		}
		in.line = in.line[:0]
	}
	return nil
}

// classify checks a line. The last word of a message's first line is the size of its headers and payload.
func (in *inspector) classify(line string) error {
	if strings.Contains(line, "\r") {
		return errors.New("the server sends a line break inside a line")
	}
	words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
	if len(words) == 0 || !strings.EqualFold(words[0], "MSG") && !strings.EqualFold(words[0], "HMSG") {
		return nil
	}
	size, err := strconv.ParseUint(words[len(words)-1], 10, 63)
	if err != nil || size > maxPayload {
		return fmt.Errorf("the server sends a message of more than %d bytes", maxPayload)
	}
	if words[0][0]|' ' == 'h' {
		if n, err := strconv.ParseUint(words[len(words)-2], 10, 63); err != nil || n > maxHeaders {
			return errHeaders
		}
	}
	in.skip, in.rest = int64(size)+1, true // and the first byte of the line break
	return nil
}

// frames takes the frames of a web socket (RFC 6455, section 5.2) from what an
// inspector reads, and the answer to the handshake before them.
type frames struct {
	inner  inspector
	answer bool   // the handshake has been answered
	head   []byte // the part of the response, or of a frame's header, that has arrived
	left   int64  // bytes of the present frame that are still to come
	data   bool   // these are of the protocol
}

func (f *frames) feed(b []byte) error {
	for len(b) > 0 {
		switch {
		case f.left > 0:
			n := min(f.left, int64(len(b)))
			if f.data {
				if err := f.inner.feed(b[:n]); err != nil {
					return err
				}
			}
			f.left -= n
			b = b[n:]
			continue
		case len(f.head) == maxLine:
			return errLine
		}
		f.head = append(f.head, b[0])
		b = b[1:]
		if err := f.classify(); err != nil {
			return err
		}
	}
	return nil
}

// classify checks the bytes before a frame's payload.
func (f *frames) classify() error {
	if !f.answer {
		if f.answer = bytes.HasSuffix(f.head, []byte("\n\r\n")) || bytes.HasSuffix(f.head, []byte("\n\n")); f.answer {
			f.head = f.head[:0]
		}
		return nil
	}
	if len(f.head) < 2 {
		return nil
	}
	if f.head[0]&0x70 != 0 || f.head[1]&0x80 != 0 {
		return errors.New("the server sends a frame that is compressed or masked")
	}
	length, more := uint64(f.head[1]), 0
	switch length {
	case 126:
		more = 2
	case 127:
		more = 8
	}
	if len(f.head) < 2+more {
		return nil
	}
	if more > 0 {
		length = 0
		for _, c := range f.head[2:] {
			length = length<<8 | uint64(c)
		}
	}
	if length > 2*maxPayload {
		return fmt.Errorf("the server sends a frame of more than %d bytes", 2*maxPayload)
	}
	f.left, f.data, f.head = int64(length), f.head[0]&8 == 0, f.head[:0]
	return nil
}
