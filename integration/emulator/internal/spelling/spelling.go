// Package spelling remembers how clients spell the names of HTTP headers, which net/http canonicalizes. The
// emulated services return names as written: those of metadata and of message properties.
//
// It reads only the head of a request, in any number of pieces.
package spelling

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync"
)

const (
	maxNames = 256 // that are remembered for a connection
	maxName  = 512 // bytes of a name that is remembered, with its prefix
)

// A Listener accepts connections that remember spellings. Their requests' contexts lead to them with [ConnContext].
type Listener struct {
	net.Listener

	// Prefix is what names begin with that are remembered, in lower case. Default: all are.
	Prefix string
}

// Accept is for net/http.
func (l Listener) Accept() (net.Conn, error) {
	socket, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: socket, prefix: l.Prefix, names: map[string]string{}}, nil
}

type connKey struct{}

// ConnContext is for [net/http.Server]: it lets [Of] find the connection of a request.
func ConnContext(ctx context.Context, socket net.Conn) context.Context {
	if c, ok := socket.(*conn); ok {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

// Unwrap returns the connection below a connection of a [Listener], and other connections unchanged.
func Unwrap(socket net.Conn) net.Conn {
	if c, ok := socket.(*conn); ok {
		return c.Conn
	}
	return socket
}

// Of returns the name of a header as the client of a request sent it last, or unchanged if unknown.
func Of(ctx context.Context, name string) string {
	c, ok := ctx.Value(connKey{}).(*conn)
	if !ok {
		return name
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if spelled, ok := c.names[strings.ToLower(name)]; ok {
		return spelled
	}
	return name
}

type conn struct {
	net.Conn

	prefix string
	line   []byte // the beginning of the present line
	tail   []byte // its end so far
	inHead bool   // the line is one of a head

	mu    sync.Mutex
	names map[string]string // by the name in lower case
}

// Read is for net/http.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.scan(b[:n])
	return n, err
}

// scan finds the header lines of requests: they follow a request line and end with an empty line.
func (c *conn) scan(b []byte) {
	for len(b) > 0 {
		line, rest, whole := bytes.Cut(b, []byte("\n"))
		c.line = append(c.line, line[:min(len(line), maxName-len(c.line))]...)
		c.tail = append(c.tail, line[max(len(line)-tailSize, 0):]...)
		c.tail = append(c.tail[:0], c.tail[max(len(c.tail)-tailSize, 0):]...)
		if !whole {
			return
		}
		c.endLine(bytes.TrimSuffix(c.line, []byte("\r")), bytes.TrimSuffix(c.tail, []byte("\r")))
		c.line, c.tail = c.line[:0], c.tail[:0]
		b = rest
	}
}

// protocol is how the line of a request ends, but for the last digit.
const protocol = " HTTP/1."

const tailSize = len(protocol) + len("1\r")

// endLine processes a line, of which only the beginning and the end are kept.
func (c *conn) endLine(line, tail []byte) {
	switch {
	case !c.inHead: // a body may end without a line's end
		c.inHead = len(tail) > len(protocol) && bytes.HasSuffix(tail[:len(tail)-1], []byte(protocol))
	case len(line) == 0:
		c.inHead = false
	default:
		if name, _, ok := strings.Cut(string(line), ":"); ok && strings.HasPrefix(strings.ToLower(name), c.prefix) {
			c.remember(name)
		}
	}
}

func (c *conn) remember(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.names) >= maxNames {
		clear(c.names)
	}
	c.names[strings.ToLower(name)] = name
}
