// Package throttle limits how often, and how many times concurrently, each caller may do something. [Throttle] is a
// token bucket per caller, [Places] limits concurrent use. Their memory is bounded, however many callers there are.
package throttle

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Throttle keeps one token bucket per caller. It is safe for concurrent use. A nil Throttle has no limit.
type Throttle struct {
	mu           sync.Mutex
	every        rate.Limit // 0: no limit
	burst        int
	now, earlier map[string]*rate.Limiter // recent callers, and those of the generation before
}

// Exceeded is the error of a caller that exceeds its rate limit.
type Exceeded struct {
	After   time.Duration // time until the next attempt
	Message string
}

// Error implements error.
func (e *Exceeded) Error() string { return e.Message }

// generation limits the callers in each of the two generations, some 100 bytes each.
const generation = 1 << 14

// New returns a throttle with a rate and a burst. A perSecond of 0 disables the limit.
func New(perSecond float64, burst int) *Throttle {
	t := &Throttle{}
	t.Set(perSecond, burst)
	return t
}

// Set changes the rate and the burst. If they differ, every caller starts with a full bucket.
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

// Allow takes a token of a caller. Without one, it returns how long to wait.
func (t *Throttle) Allow(caller string) (wait time.Duration, ok bool) {
	return take(t.of(caller), time.Now())
}

// AllowRate is [Throttle.Allow] at a time, for a caller with a separate rate and burst. A caller whose limit changes must
// get another name.
func (t *Throttle) AllowRate(caller string, perSecond float64, burst int, at time.Time) (wait time.Duration, ok bool) {
	t.mu.Lock()
	l := t.bucket(caller, rate.Limit(perSecond), burst)
	t.mu.Unlock()
	return take(l, at)
}

func take(l *rate.Limiter, at time.Time) (wait time.Duration, ok bool) {
	if l == nil {
		return 0, true
	}
	r := l.ReserveN(at, 1)
	if wait = r.DelayFrom(at); wait > 0 {
		r.CancelAt(at)
		return wait, false
	}
	return 0, true
}

// Peek is [Throttle.Allow] without taking a token.
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

// of returns the bucket of a caller, or nil without a limit.
func (t *Throttle) of(caller string) *rate.Limiter {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.every == 0 {
		return nil
	}
	return t.bucket(caller, t.every, t.burst)
}

// bucket forgets the callers that have been absent longest; they start with a full bucket when they return.
func (t *Throttle) bucket(caller string, every rate.Limit, burst int) *rate.Limiter {
	if l, ok := t.now[caller]; ok {
		return l
	}
	l, ok := t.earlier[caller]
	if !ok {
		l = rate.NewLimiter(every, burst)
	}
	if len(t.now) >= generation {
		t.now, t.earlier = map[string]*rate.Limiter{}, t.now
	}
	t.now[caller] = l
	return l
}

// Len returns the number of remembered callers.
func (t *Throttle) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.now) + len(t.earlier)
}

// Network returns the caller that an address counts as: the address itself or, for IPv6, its /64 network, which one
// host may have (RFC 6177).
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

// callersShare limits a caller to this fraction of all places, one in callersShare.
const callersShare = 4

// Places limits concurrent use of a resource, such as live tails, in total and to a quarter of that per caller. It is
// safe for concurrent use.
type Places struct {
	most int

	mu       sync.Mutex
	all      int
	byCaller map[string]int
}

// NewPlaces returns most free places.
func NewPlaces(most int) *Places { return &Places{most: most, byCaller: map[string]int{}} }

// Full is the error of a refused caller.
type Full struct {
	Own  bool // the caller has reached its own limit
	Most int  // the limit that was reached
}

// Error names the limit that was reached.
func (f *Full) Error() string {
	if f.Own {
		return "the caller has as many as one caller may have"
	}
	return "there are as many as there may be"
}

// Take gives a caller a place until leave is called. The error is a [*Full].
func (p *Places) Take(caller string) (leave func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := max(1, p.most/callersShare)
	switch {
	case p.byCaller[caller] >= own:
		return nil, &Full{Own: true, Most: own}
	case p.all >= p.most:
		return nil, &Full{Most: p.most}
	}
	p.all++
	p.byCaller[caller]++
	return sync.OnceFunc(func() { p.leave(caller) }), nil
}

func (p *Places) leave(caller string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all--
	p.byCaller[caller]--
	if p.byCaller[caller] == 0 {
		delete(p.byCaller, caller)
	}
}

// Taken returns the places in use, and the number of their callers.
func (p *Places) Taken() (all, callers int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all, len(p.byCaller)
}
