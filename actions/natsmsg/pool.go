package natsmsg

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// link is a connection and what belongs to it.
type link struct {
	nc    *nats.Conn
	js    jetstream.JetStream
	watch *watch
}

func newLink(nc *nats.Conn, w *watch) *link {
	js, _ := jetstream.New(nc) // fails on options only
	return &link{nc, js, w}
}

// pool keeps connections to jobs' own servers, one for each list of servers
// with its credentials. Attempts share them; one that no attempt has used for
// a while is closed.
type pool struct {
	most int           // connections
	idle time.Duration // how long an unused one is kept

	ctx  context.Context //nolint:containedctx // of the connections under way, which outlive the attempts that want them
	stop context.CancelFunc
	wg   sync.WaitGroup // connections under way

	mu     sync.Mutex
	byKey  map[poolKey]*pooled
	freed  chan struct{} // closed when there may be room; nil while nobody waits for that
	closed bool
}

type poolKey = [sha256.Size]byte

// pooled is a connection of a pool, or one under way.
type pooled struct {
	key   poolKey
	ready chan struct{} // closed when link or err is set
	link  *link
	err   error

	users  int         // attempts
	unused time.Time   // since when there are none
	timer  *time.Timer // closes it; nil while it never was unused
}

// errPoolClosed is why there is no connection any more.
var errPoolClosed = errors.New("the scheduler is stopping")

// waitError is that an attempt ended while it waited for room in the pool.
type waitError struct{ cause error }

// Error tells the cause.
func (e *waitError) Error() string { return e.stage() + ": " + e.cause.Error() }

// Unwrap returns the cause.
func (e *waitError) Unwrap() error { return e.cause }

// stage says what the attempt was about to do, nothing for nil.
func (e *waitError) stage() string {
	if e == nil {
		return ""
	}
	return "while all connections to jobs' own servers were in use"
}

func newPool(most int, idle time.Duration) *pool {
	if most <= 0 {
		most = DefaultMaxConns
	}
	if idle <= 0 {
		idle = DefaultIdleTimeout
	}
	p := &pool{most: most, idle: idle, byKey: map[poolKey]*pooled{}}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p
}

// get returns the connection of a key, which connect opens if there is none.
// It waits until ctx ends; others may go on waiting. Call release when the
// connection is used no more.
func (p *pool) get(ctx context.Context, key poolKey, connect func(context.Context) (*link, error)) (l *link, release func(), err error) {
	e, full, err := p.enter(key, connect) //nolint:contextcheck // a connection is opened for all who want it
	for full != nil {
		select {
		case <-full:
			e, full, err = p.enter(key, connect) //nolint:contextcheck // as above
		case <-ctx.Done():
			return nil, nil, &waitError{context.Cause(ctx)}
		}
	}
	if err != nil {
		return nil, nil, err
	}
	select {
	case <-e.ready:
		err = e.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		p.leave(e)
		return nil, nil, err
	}
	return e.link, func() { p.leave(e) }, nil
}

// enter counts one user more. While the pool is full of connections in use it
// returns a channel, which is closed when it is worth asking again.
func (p *pool) enter(key poolKey, connect func(context.Context) (*link, error)) (*pooled, <-chan struct{}, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, nil, errPoolClosed
	}
	e := p.byKey[key]
	if e != nil && e.link != nil && e.link.nc.IsClosed() {
		p.remove(e)
		e = nil
	}
	if e == nil {
		if len(p.byKey) >= p.most && !p.evict() {
			if p.freed == nil {
				p.freed = make(chan struct{})
			}
			return nil, p.freed, nil
		}
		e = &pooled{key: key, ready: make(chan struct{})}
		p.byKey[key] = e
		p.wg.Go(func() { p.connect(e, connect) })
	}
	e.users++
	if e.timer != nil {
		e.timer.Stop()
	}
	return e, nil, nil
}

// leave counts one user less.
func (p *pool) leave(e *pooled) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.users--
	if e.users > 0 {
		return
	}
	if p.byKey[e.key] == e && p.freed != nil { // others wait for room
		p.remove(e)
	}
	if p.byKey[e.key] != e {
		e.close()
		return
	}
	e.unused = time.Now()
	if e.timer == nil {
		e.timer = time.AfterFunc(p.idle, func() { p.expire(e) })
	} else {
		e.timer.Reset(p.idle)
	}
}

// connectTimeout bounds the opening of a connection, all its servers together.
const connectTimeout = 10 * time.Second

// connect opens e's connection. What could not be opened is forgotten, so that
// the next attempt tries again.
func (p *pool) connect(e *pooled, connect func(context.Context) (*link, error)) {
	ctx, cancel := context.WithTimeout(p.ctx, connectTimeout)
	defer cancel()
	l, err := connect(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	e.link, e.err = l, err
	close(e.ready)
	if err != nil && p.byKey[e.key] == e {
		p.remove(e)
	}
	if p.byKey[e.key] != e && e.users == 0 {
		e.close()
	}
}

// expire closes a connection that nobody has used for long enough.
func (p *pool) expire(e *pooled) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byKey[e.key] == e && e.users == 0 && time.Since(e.unused) >= p.idle {
		p.remove(e)
		e.close()
	}
}

// evict makes room by closing the connection that is unused for longest, or
// one that is broken; it returns false when all are in use.
func (p *pool) evict() bool {
	var oldest *pooled
	for _, e := range p.byKey {
		broken := e.link != nil && e.link.nc.IsClosed()
		if broken || e.users == 0 && (oldest == nil || e.unused.Before(oldest.unused)) {
			oldest = e
		}
		if broken {
			break
		}
	}
	if oldest == nil {
		return false
	}
	p.remove(oldest)
	if oldest.users == 0 {
		oldest.close()
	}
	return true
}

// remove forgets e; the last of its users closes it.
func (p *pool) remove(e *pooled) {
	delete(p.byKey, e.key)
	if e.timer != nil {
		e.timer.Stop()
	}
	p.wake()
}

// wake lets those who wait for room ask again.
func (p *pool) wake() {
	if p.freed != nil {
		close(p.freed)
		p.freed = nil
	}
}

// close closes the connection, if there is one yet.
func (e *pooled) close() {
	if e.link != nil {
		e.link.nc.Close()
	}
}

// close closes all connections and waits for those under way.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	for _, e := range p.byKey {
		p.remove(e)
		e.close()
	}
	p.wake()
	p.mu.Unlock()
	p.stop()
	p.wg.Wait()
}
