package web

import (
	"context"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/actions/lru"
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

// tokens are the tokens of all jobs. For each request of tokens at most one is
// under way; whoever needs the token meanwhile waits for it.
type tokens struct {
	mu      sync.Mutex
	entries map[lru.Key]*tokenEntry
}

type tokenEntry struct {
	text   string
	renew  time.Time // when it is to be asked for again
	flight *flight   // the request under way; nil: none
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
func (c *tokens) get(ctx context.Context, key lru.Key, stale string, fetch func() (token, error)) (string, error) {
	for {
		text, f, mine := c.look(key, stale)
		if f == nil {
			return text, nil
		}
		if mine {
			c.fly(ctx, key, f, fetch)
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
func (c *tokens) look(key lru.Key, stale string) (text string, f *flight, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	if e == nil {
		c.makeRoom()
		e = new(tokenEntry)
		c.entries[key] = e
	}
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
func (c *tokens) fly(ctx context.Context, key lru.Key, f *flight, fetch func() (token, error)) {
	defer func() { // also when fetch panics
		c.mu.Lock()
		defer c.mu.Unlock()
		c.entries[key].flight = nil
		close(f.done)
	}()
	t, err := fetch()
	f.text, f.err = t.text, err
	f.abandoned = err != nil && ctx.Err() != nil
	if err == nil {
		c.keep(key, t)
	}
}

func (c *tokens) keep(key lru.Key, t token) {
	life := min(t.life, maxTokenLife)
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	e.text = t.text
	e.renew = time.Now().Add(life - min(life/10, maxTokenMargin))
}

// makeRoom drops what is of no more use, and if that is too little anything
// that nobody waits for.
func (c *tokens) makeRoom() {
	if c.entries == nil {
		c.entries = make(map[lru.Key]*tokenEntry)
	}
	for _, every := range []bool{false, true} {
		if len(c.entries) < maxTokens {
			return
		}
		now := time.Now()
		for key, e := range c.entries {
			if e.flight == nil && (now.After(e.renew) || every && len(c.entries) >= maxTokens) {
				delete(c.entries, key)
			}
		}
	}
}
