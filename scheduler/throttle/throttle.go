// Package throttle bounds how often each of many callers may do something, and how much of it at once. What it keeps of them
// is bounded, too, however many there are.
package throttle

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Throttle is one bucket of tokens for each caller. It is safe for concurrent use; a nil one lets everybody do everything.
type Throttle struct {
	mu           sync.Mutex
	every        rate.Limit // 0: none
	burst        int
	now, earlier map[string]*rate.Limiter // callers, and those of before that have not come again
}

// Exceeded is the error of who does something too often.
type Exceeded struct {
	After   time.Duration // when it may be done again
	Message string
}

// Error returns the message.
func (e *Exceeded) Error() string { return e.Message }

// generation is how many callers are kept twice at most: some 100 bytes for each.
const generation = 1 << 14

// New returns a throttle of so many times a second, and so many at once. perSecond 0 lets everybody do everything.
func New(perSecond float64, burst int) *Throttle {
	t := &Throttle{}
	t.Set(perSecond, burst)
	return t
}

// Set changes what [New] was given. If it is another limit, everybody begins anew, with a full bucket.
func (t *Throttle) Set(perSecond float64, burst int) {
	every, most := rate.Limit(max(0, perSecond)), max(1, burst)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.now != nil && every == t.every && most == t.burst {
		return
	}
	t.every, t.burst = every, most
	t.now, t.earlier = map[string]*rate.Limiter{}, nil
}

// Allow reports whether a caller may do it now, or after how long it may.
func (t *Throttle) Allow(caller string) (wait time.Duration, ok bool) {
	l := t.of(caller)
	if l == nil {
		return 0, true
	}
	r := l.Reserve()
	if wait = r.Delay(); wait > 0 {
		r.Cancel()
		return wait, false
	}
	return 0, true
}

// Peek is [Throttle.Allow] without doing it.
func (t *Throttle) Peek(caller string) (wait time.Duration, ok bool) {
	l := t.of(caller)
	if l == nil {
		return 0, true
	}
	missing := 1 - l.Tokens()
	if missing <= 0 {
		return 0, true
	}
	return time.Duration(missing / float64(l.Limit()) * float64(time.Second)), false
}

// of returns the bucket of a caller, nil where there are none. Those that have not come for the longest time are
// forgotten, and begin with a full one when they come again.
func (t *Throttle) of(caller string) *rate.Limiter {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.every == 0 {
		return nil
	}
	if l, ok := t.now[caller]; ok {
		return l
	}
	l, ok := t.earlier[caller]
	if !ok {
		l = rate.NewLimiter(t.every, t.burst)
	}
	if len(t.now) >= generation {
		t.now, t.earlier = map[string]*rate.Limiter{}, t.now
	}
	t.now[caller] = l
	return l
}

// Len returns how many callers are kept.
func (t *Throttle) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.now) + len(t.earlier)
}

// Network returns what an address counts as: itself or, of IPv6, its network of 64 bits, which one machine may have to
// itself (RFC 6177).
func Network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	network, err := ip.Prefix(64)
	if err != nil {
		return address
	}
	return network.String()
}
