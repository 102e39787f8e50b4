package web

import (
	"context"
	"sync"
	"time"
)

// The life of a token in the cache.
const (
	defaultTokenLife = 5 * time.Minute  // of one that does not say
	maxTokenLife     = 24 * time.Hour   // of any
	maxTokenMargin   = 60 * time.Second // before its end, at most, a token is asked for again; a tenth of its life for short ones
	maxTokens        = 4096
)

// token is what a token server has issued.
type token struct {
	text string
	life time.Duration
}

// tokenEntry is a token in the cache. At most one request for an entry is active; attempts that need the token wait for it.
type tokenEntry struct {
	mu     sync.Mutex
	text   string
	renew  time.Time // when it is requested again
	flight *flight   // the active request; nil: none
}

// flight is a request of a token. Its other fields are set when done is closed.
type flight struct {
	done      chan struct{}
	text      string
	err       error
	abandoned bool // it says nothing about the token server: the attempt that asked has ended
}

// get returns a token other than stale: the cached one, or what fetch returns.
// An error of the token server is everybody's who waited for it. The error is
// a [failure], or ctx's.
func (e *tokenEntry) get(ctx context.Context, stale string, fetch func() (token, error)) (string, error) {
	for {
		text, f, mine := e.look(stale)
		if f == nil {
			return text, nil
		}
		if mine {
			e.fly(ctx, f, fetch)
			return f.text, f.err
		}
		select {
		case <-f.done:
			if !f.abandoned {
				return f.text, f.err
			}
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// look returns the cached token, or the flight that will bring one; mine when
// the caller has to fly it.
func (e *tokenEntry) look(stale string) (text string, f *flight, mine bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.text != "" && e.text != stale && time.Now().Before(e.renew) {
		return e.text, nil, false
	}
	if e.flight == nil {
		e.flight = &flight{done: make(chan struct{}), abandoned: true}
		return "", e.flight, true
	}
	return "", e.flight, false
}

// fly asks for a token and keeps it.
func (e *tokenEntry) fly(ctx context.Context, f *flight, fetch func() (token, error)) {
	var life time.Duration
	defer func() { // also when fetch panics
		e.mu.Lock()
		defer e.mu.Unlock()
		if f.text != "" {
			e.text, e.renew = f.text, time.Now().Add(life-min(life/10, maxTokenMargin))
		}
		e.flight = nil
		close(f.done)
	}()
	t, err := fetch()
	f.text, f.err = t.text, err
	f.abandoned = err != nil && ctx.Err() != nil
	life = min(t.life, maxTokenLife)
}
