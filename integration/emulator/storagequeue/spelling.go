package storagequeue

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync"
)

const (
	metaPrefix = "x-ms-meta-"
	maxSpelled = 256 // names that are remembered for a connection
	maxSpell   = 512 // length of a name that is remembered, with its prefix
)

// A spelledListener accepts connections that remember how their client spelled the names of metadata. net/http makes all header
// names look alike, and the service gives the names of metadata back as they were written.
type spelledListener struct {
	net.Listener
}

// Accept is for net/http.
func (l spelledListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &spelledConn{Conn: conn, names: map[string]string{}}, nil
}

type spelledConn struct {
	net.Conn

	line []byte // the beginning of the present line
	skip bool   // the rest of the present line is of no interest

	mu    sync.Mutex
	names map[string]string // by lower-case name
}

// Read is for net/http.
func (c *spelledConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.scan(b[:n])
	return n, err
}

// scan looks for lines that begin like a metadata header. Lines of bodies may look so too; that changes nothing but the spelling
// of a name that the same client sends.
func (c *spelledConn) scan(b []byte) {
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		line := b
		if end >= 0 {
			line = b[:end]
		}
		c.extend(line)
		if end < 0 {
			return
		}
		c.line, c.skip = c.line[:0], false
		b = b[end+1:]
	}
}

func (c *spelledConn) extend(b []byte) {
	if c.skip {
		return
	}
	name, _, whole := bytes.Cut(b, []byte(":"))
	c.line = append(c.line, name[:min(len(name), maxSpell)]...)
	known := min(len(c.line), len(metaPrefix))
	switch {
	case len(c.line) > maxSpell || !strings.EqualFold(string(c.line[:known]), metaPrefix[:known]):
		c.skip = true
	case whole:
		c.skip = true
		c.remember(string(c.line))
	}
}

func (c *spelledConn) remember(header string) {
	if len(header) < len(metaPrefix) {
		return
	}
	name := header[len(metaPrefix):]
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.names) >= maxSpelled {
		clear(c.names)
	}
	c.names[strings.ToLower(name)] = name
}

// spell returns a name as it was last sent, or in lower case.
func (c *spelledConn) spell(lower string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if name, ok := c.names[lower]; ok {
		return name
	}
	return lower
}

// A connection is what a request's context says of where it came from.
type connection struct {
	conn   *spelledConn
	secure bool
}

type connectionKey struct{}

func connContext(secure bool) func(context.Context, net.Conn) context.Context {
	return func(ctx context.Context, conn net.Conn) context.Context {
		spelled, ok := conn.(*spelledConn)
		if !ok {
			return ctx
		}
		return context.WithValue(ctx, connectionKey{}, connection{conn: spelled, secure: secure})
	}
}
