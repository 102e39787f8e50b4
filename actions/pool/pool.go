package pool

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Pool keeps one connection per key. It is safe for concurrent use. Its mutex guards only maps and counters; no
// code does I/O while it holds the mutex.
type Pool[K comparable, C Conn] struct {
	config Config
	ctx    context.Context //nolint:containedctx // of openings, which outlive the attempts that begin them
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	entries map[K]*entry[K, C] // connections that Get can return
	freed   chan struct{}      // closed when a slot may be free; nil without waiters
	sweeper *time.Timer        // nil while there is nothing to sweep
	closed  bool
	tasks   sync.WaitGroup // users, and goroutines that close
}

// New returns a pool. It does no I/O. Call [Pool.Close] in the end.
func New[K comparable, C Conn](config Config) *Pool[K, C] {
	p := &Pool[K, C]{config: config, entries: map[K]*entry[K, C]{}}
	p.ctx, p.cancel = context.WithCancelCause(context.Background())
	return p
}

// Get returns the open connection of a key. On a miss, dial makes one without I/O, and the pool opens it. Get
// returns the error of dial or of opening, [ErrClosed], or a [WaitError] if ctx ends first.
func (p *Pool[K, C]) Get(ctx context.Context, key K, dial func() (C, error)) (*Lease[K, C], error) {
	for {
		e, freed, err := p.find(key, dial)
		switch {
		case err != nil:
			return nil, err
		case e != nil:
			return p.lease(ctx, e)
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, &WaitError{Full: true, Cause: context.Cause(ctx)}
		}
	}
}

// find returns the connection of a key, which may still be opening, with the caller as its user. If all are in use,
// it returns a channel instead; after the channel is closed, the caller retries.
func (p *Pool[K, C]) find(key K, dial func() (C, error)) (*entry[K, C], <-chan struct{}, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, nil, ErrClosed
	}
	e := p.entries[key]
	if e != nil && (e.broken() || p.tooOld(time.Since(e.made))) {
		p.drop(e)
		e = nil
	}
	if e == nil {
		if len(p.entries) >= p.config.Max && !p.evict() {
			if p.freed == nil {
				p.freed = make(chan struct{})
			}
			return nil, p.freed, nil
		}
		var err error
		if e, err = p.start(key, dial); err != nil {
			return nil, nil, err
		}
		p.entries[key] = e
		if p.sweeper == nil {
			p.sweeper = time.AfterFunc(p.interval(), p.sweep)
		}
	}
	p.use(e)
	return e, nil, nil
}

// start begins to open a connection.
func (p *Pool[K, C]) start(key K, dial func() (C, error)) (*entry[K, C], error) {
	conn, err := dial()
	if err != nil {
		return nil, err
	}
	e := &entry[K, C]{key: key, conn: conn, made: time.Now(), ready: make(chan struct{})}
	if p.config.RenewAfter > 0 {
		e.dial = dial
	}
	p.use(e)
	go p.open(e)
	return e, nil
}

// open opens a connection.
func (p *Pool[K, C]) open(e *entry[K, C]) {
	defer p.release(e)
	err := e.conn.Open(p.ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	e.err, e.open = err, err == nil
	if !e.open {
		p.drop(e)
	}
	if e.before != nil {
		p.succeed(e)
	}
	close(e.ready) // last: a caller that sees the failure and retries gets a new entry
}

// use counts a user.
func (p *Pool[K, C]) use(e *entry[K, C]) {
	e.users++
	p.tasks.Add(1)
}

// release ends one use.
func (p *Pool[K, C]) release(e *entry[K, C]) {
	defer p.tasks.Done()
	p.mu.Lock()
	defer p.mu.Unlock()
	e.users--
	e.used = time.Now()
	switch {
	case e.users > 0:
	case e.dropped:
		p.tasks.Go(e.conn.Close)
	case p.freed != nil: // others wait for room
		p.drop(e)
	}
}

// drop removes e from the pool. Its last user closes it.
func (p *Pool[K, C]) drop(e *entry[K, C]) {
	if e.dropped {
		return
	}
	e.dropped = true
	if p.entries[e.key] == e {
		delete(p.entries, e.key)
	}
	p.wake()
	if e.users == 0 {
		p.tasks.Go(e.conn.Close)
	}
}

// wake lets the callers that wait for a free connection retry.
func (p *Pool[K, C]) wake() {
	if p.freed != nil {
		close(p.freed)
		p.freed = nil
	}
}

// evict makes room, if not all connections are in use.
func (p *Pool[K, C]) evict() bool {
	var oldest *entry[K, C]
	for _, e := range p.entries {
		if e.broken() {
			oldest = e
			break
		}
		if e.users == 0 && (oldest == nil || e.used.Before(oldest.used)) {
			oldest = e
		}
	}
	if oldest != nil {
		p.drop(oldest)
	}
	return oldest != nil
}

// Drop takes the connections that match from later users.
func (p *Pool[K, C]) Drop(match func(C) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.entries {
		if match(e.conn) {
			p.drop(e)
		}
	}
}

// Close closes every connection, and returns when its users have ended and it is
// closed.
func (p *Pool[K, C]) Close() {
	p.mu.Lock()
	p.closed = true
	if p.sweeper != nil {
		p.sweeper.Stop()
	}
	for _, e := range p.entries {
		p.drop(e)
	}
	p.wake()
	p.mu.Unlock()
	p.cancel(ErrClosed)
	p.tasks.Wait()
}

// entry is a connection of a pool, opening or open.
type entry[K comparable, C Conn] struct {
	key   K
	conn  C
	dial  func() (C, error) // for a successor; nil unless there are successors
	made  time.Time
	ready chan struct{} // closed when it is open, or could not be opened
	err   error         // why it is not open

	// Guarded by the mutex of the pool.
	users   int // opening it is one, too
	open    bool
	used    time.Time    // when the last user ended
	next    *entry[K, C] // its successor, while that is opening
	before  *entry[K, C] // whose successor it is, while it is opening
	dropped bool
}

// broken reports whether an open connection is no longer usable.
func (e *entry[K, C]) broken() bool { return e.open && !e.conn.Usable() }

// Lease is one use of a connection. Call Release when it has ended.
type Lease[K comparable, C Conn] struct {
	Conn C

	pool  *Pool[K, C]
	entry *entry[K, C]
}

// lease waits until e is open.
func (p *Pool[K, C]) lease(ctx context.Context, e *entry[K, C]) (*Lease[K, C], error) {
	var err error
	select {
	case <-e.ready:
		err = e.err
	case <-ctx.Done():
		err = &WaitError{Cause: context.Cause(ctx)}
	}
	if err != nil {
		p.release(e)
		return nil, err
	}
	return &Lease[K, C]{Conn: e.conn, pool: p, entry: e}, nil
}

// Release ends the use, once.
func (l *Lease[K, C]) Release() { l.pool.release(l.entry) }

// Drop removes the connection from the pool. The caller must still release the lease.
func (l *Lease[K, C]) Drop() {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	l.pool.drop(l.entry)
}

// Conn is a connection that a pool keeps.
type Conn interface {
	// Open opens it, once. ctx ends when the pool is closed. Users under way
	// must then end by themselves, so that the pool can close the connection;
	// that is also for Open to see to.
	Open(ctx context.Context) error

	// Usable reports whether another attempt can use the open connection: false once it is broken. It must not
	// block.
	Usable() bool

	// Close closes the connection. The pool calls it once, after the last use, and also if opening failed.
	Close()
}

// Config configures a pool.
type Config struct {
	// Max limits the number of connections. It must be positive.
	Max int

	// IdleTimeout limits the idle time of a connection. It must be positive.
	IdleTimeout time.Duration

	// RenewAfter is the age at which a connection that is in use, or was not
	// long ago, gets a successor. Default: it gets none.
	RenewAfter time.Duration

	// MaxAge is the age from which the pool no longer hands out a connection. Default: unlimited.
	MaxAge time.Duration

	// Final reports whether an error of opening a successor also ends the predecessor, for example because access
	// was revoked. The next attempts then find out why. Default: no error does.
	Final func(error) bool
}

// ErrClosed is the error of requests to a closed pool.
var ErrClosed = errors.New("the scheduler is stopping")

// WaitError is the error of those whose context ended while they waited for a
// connection.
type WaitError struct {
	Full  bool  // they waited for room; false: for the connection to be opened
	Cause error // of the context's end
}

// Error implements error.
func (e *WaitError) Error() string {
	if e.Full {
		return "while all connections were in use: " + e.Cause.Error()
	}
	return "while connecting: " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *WaitError) Unwrap() error { return e.Cause }

// interval is the time between two sweeps when nothing is due before.
func (p *Pool[K, C]) interval() time.Duration {
	if p.config.RenewAfter > 0 {
		return min(p.config.IdleTimeout, p.config.RenewAfter/2)
	}
	return p.config.IdleTimeout
}

func (p *Pool[K, C]) tooOld(age time.Duration) bool {
	return p.config.MaxAge > 0 && age > p.config.MaxAge
}

// sweep drops the connections that are idle for too long, or too old, and renews
// those in use.
func (p *Pool[K, C]) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	now, next := time.Now(), p.interval()
	for _, e := range p.entries {
		next = min(next, p.inspect(e, now))
	}
	if len(p.entries) == 0 {
		p.sweeper = nil
		return
	}
	p.sweeper.Reset(max(next, time.Millisecond))
}

// inspect does with e what its age and use ask for, and returns after which time
// to look again.
func (p *Pool[K, C]) inspect(e *entry[K, C], now time.Time) time.Duration {
	age, idle := now.Sub(e.made), time.Duration(0)
	if e.users == 0 {
		idle = now.Sub(e.used)
	}
	left, young := p.config.IdleTimeout-idle, p.config.RenewAfter-age
	switch {
	case e.users == 0 && (left <= 0 || p.tooOld(age)):
		p.drop(e)
		return p.config.IdleTimeout
	case young > 0:
		return min(left, young)
	case p.config.RenewAfter > 0 && e.next == nil && !p.tooOld(age) && idle < p.config.RenewAfter/2:
		p.renew(e)
	}
	return left
}

// renew begins to open the successor of e.
func (p *Pool[K, C]) renew(e *entry[K, C]) {
	next, err := p.start(e.key, e.dial)
	if err != nil {
		return // it may be used until it is too old
	}
	e.next, next.before = next, e
}

// succeed replaces a connection by its successor e, which is open or failed to open. After a final failure the
// predecessor goes, too.
func (p *Pool[K, C]) succeed(e *entry[K, C]) {
	old := e.before
	e.before, old.next = nil, nil
	switch {
	case !e.open && (p.config.Final == nil || !p.config.Final(e.err)):
	case old.dropped || p.closed:
		p.drop(e)
	default:
		p.drop(old)
		if e.open {
			p.entries[e.key] = e
		}
	}
}
