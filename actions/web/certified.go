package web

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"net/http"
	"sync"
	"time"
)

// transport is an [http.RoundTripper] whose idle connections can be closed.
type transport interface {
	http.RoundTripper
	CloseIdleConnections()
}

// maxCertified is how many client certificates are kept decoded.
const maxCertified = 256

// certified are the transports with a client certificate. Connections with
// different certificates must not mix, and those with the same are shared by
// all jobs.
type certified struct {
	mu      sync.Mutex
	entries map[[sha256.Size]byte]*certifiedEntry
}

type certifiedEntry struct {
	transport transport
	used      time.Time
}

// transport returns the transport that shows the certificate in pfx; build
// makes one.
func (c *certified) transport(ctx context.Context, pfx, password string,
	build func(*tls.Certificate) (transport, error),
) (http.RoundTripper, error) {
	b := binary.AppendUvarint(nil, uint64(len(pfx)))
	key := sha256.Sum256(append(append(b, pfx...), password...))
	if t := c.find(key); t != nil {
		return t, nil
	}
	decoded, err := decodePFX(ctx, pfx, password)
	if err != nil {
		return nil, err
	}
	t, err := build(decoded)
	if err != nil {
		return nil, err
	}
	return c.keep(key, t), nil
}

func (c *certified) find(key [sha256.Size]byte) http.RoundTripper {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	if e == nil {
		return nil
	}
	e.used = time.Now()
	return e.transport
}

// keep returns the transport to use from now on: t, unless another was faster.
// The one that was not used for longest makes room; its requests end as they
// would.
func (c *certified) keep(key [sha256.Size]byte, t transport) http.RoundTripper {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[key]; e != nil {
		return e.transport
	}
	if c.entries == nil {
		c.entries = make(map[[sha256.Size]byte]*certifiedEntry)
	}
	if len(c.entries) >= maxCertified {
		var oldest [sha256.Size]byte
		for k, e := range c.entries {
			if o := c.entries[oldest]; o == nil || e.used.Before(o.used) {
				oldest = k
			}
		}
		c.entries[oldest].transport.CloseIdleConnections()
		delete(c.entries, oldest)
	}
	c.entries[key] = &certifiedEntry{t, time.Now()}
	return t
}

func (c *certified) closeIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.entries {
		e.transport.CloseIdleConnections()
	}
}
