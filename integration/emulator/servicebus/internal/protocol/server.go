package protocol

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/auth"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// Config configures a server.
type Config struct {
	// Broker has the entities. It is required.
	Broker *broker.Broker
	// Keys checks tokens. The zero value takes every token that is well formed.
	Keys auth.Keyring
	// TLS serves clients that begin with a TLS handshake as well as those that do not. Nil refuses the former.
	TLS *tls.Config
	// MaxMessageSize bounds a message or batch in bytes. Default 1 MiB.
	MaxMessageSize int
	// IdleTimeout is half of the time after which a silent client is disconnected; clients are asked to send within it.
	// Default: one minute.
	IdleTimeout time.Duration
	// HandshakeTimeout limits the time to open the connection. Default 20 seconds.
	HandshakeTimeout time.Duration
	// WriteTimeout is the maximum time for a client to read its input. Default: 30 seconds.
	WriteTimeout time.Duration
	// Explain takes what clients did wrong, a line for each refusal. Default none.
	Explain *slog.Logger
	// Opened is called when a client has opened its connection. Default none.
	Opened func(client net.Addr)
	// Logger takes what happens to connections. Default none.
	Logger *slog.Logger
}

// A Server serves AMQP connections.
type Server struct {
	config Config
	id     string          // the container id
	ctx    context.Context //nolint:containedctx // ends with the server; connections begin at any time
	cancel context.CancelFunc
	ended  sync.WaitGroup // connections

	mu     sync.Mutex
	closed bool
	conns  map[*conn]bool
}

// New returns a server. It does no I/O.
func New(config Config) *Server {
	config.MaxMessageSize = cmp.Or(max(config.MaxMessageSize, 0), 1<<20)
	config.IdleTimeout = cmp.Or(max(config.IdleTimeout, 0), time.Minute)
	config.HandshakeTimeout = cmp.Or(max(config.HandshakeTimeout, 0), 20*time.Second)
	config.WriteTimeout = cmp.Or(max(config.WriteTimeout, 0), 30*time.Second)
	if config.Opened == nil {
		config.Opened = func(net.Addr) {}
	}
	config.Logger = cmp.Or(config.Logger, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	return &Server{config: config, id: "carillon", ctx: ctx, cancel: cancel, conns: map[*conn]bool{}}
}

// Serve accepts connections until the listener is closed or the server is.
func (s *Server) Serve(listener net.Listener) error {
	stop := context.AfterFunc(s.ctx, func() { listener.Close() })
	defer stop()
	var pause time.Duration
	for {
		socket, err := listener.Accept()
		switch {
		case err == nil:
			pause = 0
			go s.ServeConn(socket)
		case errors.Is(err, net.ErrClosed):
			return nil
		default: // out of file descriptors, say
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			s.config.Logger.Error("no connection accepted", slog.Any("err", err))
			select {
			case <-time.After(pause):
			case <-s.ctx.Done():
				return nil
			}
		}
	}
}

// ServeConn serves one connection until it ends. A connection that begins with a TLS handshake is served through it.
func (s *Server) ServeConn(socket net.Conn) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		socket.Close()
		return
	}
	s.ended.Add(1)
	c := newConn(s, Sniff(socket, s.config.TLS))
	s.conns[c] = true
	s.mu.Unlock()
	defer s.ended.Done()
	defer func() {
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
	err := c.run()
	c.log.Debug("connection ended", slog.Any("err", err))
}

// Drop ends every connection without a word, as a broken network would, and returns how many there were.
func (s *Server) Drop() int {
	conns := s.list()
	for _, c := range conns {
		c.abort()
	}
	return len(conns)
}

// Connections returns how many clients there are.
func (s *Server) Connections() int { return len(s.list()) }

func (s *Server) list() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.conns))
}

// Close notifies every client, and returns when all connections have ended.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	for _, c := range s.list() {
		c.shut(amqp.Errorf(condForced, "the server is shutting down"))
	}
	s.ended.Wait()
}

// WebSocketPath is where clients expect AMQP over WebSocket.
const WebSocketPath = "/$servicebus/websocket"

// subprotocol is the name of AMQP over WebSocket.
const subprotocol = "AMQPWSB10"

// ServeHTTP serves a connection over WebSocket.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols:       []string{subprotocol},
		InsecureSkipVerify: true, // pages of other machines do not get here
	})
	if err != nil {
		return // Accept has answered
	}
	socket.SetReadLimit(-1) // frames are bounded by the reader, which takes a message in pieces
	stream := websocket.NetConn(context.WithoutCancel(r.Context()), socket, websocket.MessageBinary)
	s.ServeConn(webSocketConn{stream, socket}) //nolint:contextcheck // a connection outlives the request that it began with
}

// A webSocketConn closes without the handshake of WebSocket, for which AMQP has its own.
type webSocketConn struct {
	net.Conn

	socket *websocket.Conn
}

// Close ends the connection immediately.
func (c webSocketConn) Close() error { return c.socket.CloseNow() }

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

// sniffed is a connection that detects its protocol at its first Read. It writes nothing before that.
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
	replay := replayed{s.Conn, io.MultiReader(bytes.NewReader(first), s.Conn)}
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

// replayed is a connection whose first byte has been read already.
type replayed struct {
	net.Conn

	from io.Reader
}

func (r replayed) Read(b []byte) (int, error) { return r.from.Read(b) }
