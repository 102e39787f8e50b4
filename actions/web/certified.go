package web

import (
	"context"
	"errors"
	"net/http"

	"github.com/carillon-sched/carillon/actions/lru"
)

// transport is an [http.RoundTripper] whose idle connections can be closed.
type transport interface {
	http.RoundTripper
	CloseIdleConnections()
}

// maxCertified is how many client certificates are kept decoded.
const maxCertified = 256

// withCertificate returns the transport that shows the certificate in pfx to
// whoever asks for one.
func (c *Client) withCertificate(ctx context.Context, pfx, password string) (http.RoundTripper, error) {
	return c.certified.Get(lru.Digest(pfx, password), func() (transport, error) {
		decoded, err := decodePFX(ctx, pfx, password)
		if err != nil {
			return nil, err
		}
		if c.config.Transport != nil {
			return nil, errors.New("cannot be used: this process has a transport of its own")
		}
		return newTransport(&c.config, decoded), nil
	})
}
