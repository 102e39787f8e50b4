package servicebus

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/bits"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/carillon-sched/carillon/cmd/carillon/listen/connlimit"
	"github.com/carillon-sched/carillon/integration/emulator/internal/browser"
	"github.com/carillon-sched/carillon/integration/emulator/internal/exposition"
	"github.com/carillon-sched/carillon/integration/emulator/internal/listen"
	"github.com/carillon-sched/carillon/integration/emulator/internal/spelling"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/admin"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/auth"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/fault"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/protocol"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/rest"
)

// A Server is an emulator that runs.
type Server struct {
	config   Config
	broker   *broker.Broker
	protocol *protocol.Server
	http     *listen.Server
	clients  *connlimit.Limiter // over AMQP
	visitors *connlimit.Limiter // over HTTP
	amqpAddr net.Addr
	httpAddr net.Addr

	cancel  context.CancelFunc // of the broker
	ended   sync.WaitGroup     // goroutines of the server itself
	close   func() error
	failing sync.Mutex
	failed  error         // why it stopped; nil while it runs, and after Close
	done    chan struct{} // closed with that, or by Close
	finish  func()        // closes done
}

// Start starts an emulator. It serves when Start returns, until Close; ctx is for the start alone.
func Start(ctx context.Context, config Config) (*Server, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	b := broker.New(broker.Config{
		Dir: config.Data, Sync: config.Sync, AutoCreate: config.AutoCreate, MaxMessageSize: config.MaxMessageSize, Tier: config.Tier,
		Logger: config.Logger,
	})
	if err := b.Load(); err != nil {
		return nil, err
	}
	s := &Server{config: config, broker: b, done: make(chan struct{})}
	s.finish = sync.OnceFunc(func() { close(s.done) })
	s.close = sync.OnceValue(s.shut)
	s.run() //nolint:contextcheck // ctx is for the start alone
	if err := s.listen(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// run lets the broker work.
func (s *Server) run() {
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.ended.Go(func() {
		if err := s.broker.Run(ctx); err != nil {
			s.fail(err)
		}
	})
	keys := keyring(s.config, s.broker)
	s.clients = connlimit.New(s.config.MaxConnections)
	speaking := protocol.Config{
		Opened: func(client net.Addr) { s.clients.Busy(client.String()) },
		Broker: s.broker, Keys: keys, TLS: s.config.TLS, MaxMessageSize: int(s.broker.MaxMessageSize()),
		Logger: s.config.Logger,
	}
	if s.config.Explain {
		speaking.Explain = s.config.Logger
	}
	s.protocol = protocol.New(speaking)
	mux := http.NewServeMux()
	mux.Handle(protocol.WebSocketPath, s.protocol)
	mux.Handle(protocol.WebSocketPath+"/{$}", s.protocol) // as .NET's and Python's clients ask for it
	metrics := exposition.New(admin.MetricPrefix)
	explain := explainer(speaking.Explain)
	administration := admin.New(admin.Config{
		Broker: s.broker, Keys: keys, Connections: s.protocol, Metrics: metrics, Explain: explain,
	})
	mux.Handle("/", metrics.Counting(rest.New(rest.Config{Broker: s.broker, Keys: keys, Explain: explain, Next: administration})))
	s.http = listen.NewServer(tellTLS(browser.Guard(s.config.AllowHost, mux)), s.config.Logger)
	s.http.BaseContext = func(net.Listener) context.Context { return ctx } // those who wait end with the server
	s.http.ConnContext = connContext
	s.visitors = connlimit.New(s.config.MaxConnections)
	s.visitors.Watch(&s.http.Server, 0)
}

// listen makes the entities and opens the ports.
func (s *Server) listen(ctx context.Context) error {
	if err := s.config.Entities.install(s.broker); err != nil {
		return err
	}
	listener, err := listen.TCP(ctx, "AMQP", s.config.Addr)
	if err != nil {
		return err
	}
	s.amqpAddr = listener.Addr()
	web, err := listen.TCP(ctx, "HTTP", s.config.HTTPAddr)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	s.httpAddr = web.Addr()
	s.ended.Go(func() { _ = s.protocol.Serve(s.clients.Listen(listen.Quick(listener))) }) //nolint:contextcheck // as above
	s.ended.Go(func() {
		listener := spelling.Listener{Listener: sniffing{s.visitors.Listen(listen.Quick(web)), s.config.TLS}}
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.fail(err)
		}
	})
	s.config.Logger.Info("service bus emulator is ready", slog.String("amqp", s.Addr()), slog.String("http", s.HTTPAddr()))
	return nil
}

// fail records why the server stops.
func (s *Server) fail(err error) {
	s.config.Logger.Error("service bus emulator has failed", slog.Any("err", err))
	s.failing.Lock()
	s.failed = errors.Join(s.failed, err)
	s.failing.Unlock()
	s.finish()
}

// Done is closed when the emulator has stopped: after Close, or after a failure such as a full disk. Close returns the
// failure, and must be called in either case.
func (s *Server) Done() <-chan struct{} { return s.done }

// Close ends all connections and stops the emulator. No goroutine of it is left when Close returns.
func (s *Server) Close() error { return s.close() }

func (s *Server) shut() error {
	err := s.http.Close()
	s.protocol.Close()
	s.cancel()
	s.ended.Wait()
	s.http.Wait() // the protocol tracks WebSockets
	s.finish()
	s.failing.Lock()
	defer s.failing.Unlock()
	return errors.Join(err, s.failed)
}

// Addr is the address of AMQP.
func (s *Server) Addr() string { return s.amqpAddr.String() }

// HTTPAddr is the address of administration and of AMQP over WebSocket.
func (s *Server) HTTPAddr() string { return s.httpAddr.String() }

// ConnectionString is what clients that send and receive need.
func (s *Server) ConnectionString() string { return s.connectionTo(s.amqpAddr, s.keyName()) }

// ConnectionStringFor is that with the configured key of a name.
func (s *Server) ConnectionStringFor(name string) string { return s.connectionTo(s.amqpAddr, name) }

// AdminConnectionString is what clients that administer need.
func (s *Server) AdminConnectionString() string { return s.connectionTo(s.httpAddr, s.keyName()) }

func (s *Server) connectionTo(addr net.Addr, name string) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return ""
	}
	switch ip := net.ParseIP(host); {
	case ip.Equal(net.IPv4zero):
		host = "127.0.0.1"
	case ip == nil || ip.IsUnspecified():
		host = "localhost"
	}
	return fmt.Sprintf("Endpoint=sb://%s;SharedAccessKeyName=%s;SharedAccessKey=%s;UseDevelopmentEmulator=true;",
		net.JoinHostPort(host, port), name, s.config.Keys[name])
}

// keyName chooses the key of connection strings: the one with the most rights, so that admin clients can use it if any
// can, and among several the usual one, or the first.
func (s *Server) keyName() string {
	names := slices.SortedFunc(maps.Keys(s.config.Keys), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.extent(b), s.extent(a)), strings.Compare(a, b))
	})
	if s.extent(DefaultKeyName) == s.extent(names[0]) && slices.Contains(names, DefaultKeyName) {
		return DefaultKeyName
	}
	return names[0]
}

// extent returns the number of rights of a key.
func (s *Server) extent(name string) int {
	rights, _ := auth.ParseRights(s.config.Rights[name]) // checked with the config
	return bits.OnesCount8(uint8(rights))
}

// A Broker has the entities and their messages.
type Broker = broker.Broker

// Broker returns the broker, for tests that read or change entities without a client.
func (s *Server) Broker() *Broker { return s.broker }

// explainer returns a function that logs why a request over HTTP was refused, as for AMQP. Without a logger it does
// nothing.
func explainer(log *slog.Logger) func(r *http.Request, what, entity string, err error) {
	if log == nil {
		return nil
	}
	return func(r *http.Request, what, entity string, err error) {
		client := []any{slog.String("client", r.RemoteAddr), slog.String("agent", r.UserAgent())}
		protocol.Explain(log, client, what, entity, err, slog.Any("err", err))
	}
}

// sniffing is a listener of connections that speak TLS or do not.
type sniffing struct {
	net.Listener

	config *tls.Config
}

// Accept returns the next connection.
func (l sniffing) Accept() (net.Conn, error) {
	socket, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return protocol.Sniff(socket, l.config), nil
}

type connKey struct{}

// connContext lets handlers find the connection of a request.
func connContext(ctx context.Context, socket net.Conn) context.Context {
	return context.WithValue(spelling.ConnContext(ctx, socket), connKey{}, spelling.Unwrap(socket))
}

// tellTLS has requests say that they came through TLS. net/http knows only its own connections.
func tellTLS(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if socket, ok := r.Context().Value(connKey{}).(net.Conn); ok && r.TLS == nil && protocol.Secure(socket) {
			r.TLS = &tls.ConnectionState{HandshakeComplete: true}
		}
		next.ServeHTTP(w, r)
	})
}

// A Fault is something that goes wrong on purpose, such as the next three sends to an entity failing as busy.
type Fault = fault.Fault

// A Condition identifies an error of the service, such as com.microsoft:server-busy.
type Condition = amqp.Symbol

// An Operation is what a [Fault] befalls.
type Operation = fault.Operation

// The operations. A fault for AnyOperation applies to the next operation of any kind.
const (
	AnyOperation = fault.AnyOperation
	OpAttach     = fault.OpAttach
	OpSend       = fault.OpSend
	OpReceive    = fault.OpReceive
	OpSettle     = fault.OpSettle
	OpManage     = fault.OpManage // requests to $management
)

// Inject orders a fault.
func (s *Server) Inject(fault Fault) { s.broker.Faults().Add(fault) }

// Heal forgets all faults that have not befallen yet.
func (s *Server) Heal() { s.broker.Faults().Clear() }

// Disconnect cuts all connections as a broken network would, and returns how many there were.
func (s *Server) Disconnect() int { return s.protocol.Drop() }
