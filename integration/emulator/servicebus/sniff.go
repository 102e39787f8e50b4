package servicebus

import (
	"crypto/tls"
	"net"

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
