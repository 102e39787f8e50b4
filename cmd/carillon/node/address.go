package node

import (
	"net/url"

	"github.com/nats-io/nats.go"
)

// Connected is the URL of the server that a connection is to, without who connects; "" while there is none.
func Connected(nc *nats.Conn) string { return Anonymous(nc.ConnectedUrl()) }

// Anonymous is the URL of a NATS server without who connects to it: what stands there may be a password or, alone, a token.
func Anonymous(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return "a URL that cannot be read"
	}
	u.User = nil
	return u.String()
}
