package client

import (
	"crypto/tls"
	"net/http"
)

// Secure says whom a client trusts over TLS, and which certificate it shows. Default: those that the system trusts, and
// none.
func (c *Client) Secure(cfg *tls.Config) {
	if transport, ok := c.http.Transport.(*http.Transport); ok {
		transport.TLSClientConfig = cfg
	}
}

// security is what was said of TLS.
func (c *Client) security() *tls.Config {
	if transport, ok := c.http.Transport.(*http.Transport); ok && transport.TLSClientConfig != nil {
		return transport.TLSClientConfig.Clone()
	}
	return nil
}
