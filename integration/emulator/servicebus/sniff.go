package servicebus

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"

	"github.com/carillon-sched/carillon/integration/emulator/internal/spelling"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/protocol"
)

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
