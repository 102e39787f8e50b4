package servicebus

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/actions/egress"
)

// account is what has a connection of its own.
type account struct {
	place   place
	keyName string
	key     string
}

// destination is what has a link of its own: a queue or topic, and a key.
type destination struct {
	place   place
	keyName string
	key     string
	entity  string
}

func (d destination) account() account { return account{d.place, d.keyName, d.key} }

// pool keeps the links and connections of a client. What its mutex guards are
// maps and counters; nothing waits for a network under it.
type pool struct {
	config Config
	times  times
	dial   func(ctx context.Context, network, address string) (net.Conn, error)

	// base is what connections, and what closes them, go by: not an attempt,
	// as they outlive it.
	base context.Context //nolint:containedctx // see above

	mu          sync.Mutex
	links       map[destination]*link    // what attempts may use
	connections map[account]*connection  // what links may be opened on
	living      map[*connection]struct{} // connections that are not closed yet
	freed       chan struct{}            // closed when a link goes; nil while nobody waits for that
	sweeper     *time.Timer              // closes what is idle; nil while there is no link
	closed      bool
	tasks       sync.WaitGroup // users of links, and goroutines that close
}

func newPool(config Config) *pool {
	return &pool{
		config:      config,
		base:        context.Background(),
		times:       defaultTimes,
		dial:        config.Guard.DialContext(config.Guard.Dialer(egress.DialTimeout)),
		links:       make(map[destination]*link),
		connections: make(map[account]*connection),
		living:      make(map[*connection]struct{}),
	}
}

var errClosed = errors.New("the scheduler is stopping")

// send sends m and returns when it was acknowledged, soon after ctx is done,
// or when it cannot be.
//
// What a link says that the service has closed can be long out of date: the
// queue was deleted, and made again. So what an older link says about itself
// is not taken for granted before a new one says the same.
func (p *pool) send(ctx context.Context, to destination, m *azservicebus.AMQPAnnotatedMessage) error {
	start := time.Now()
	for again := true; ; again = false {
		l, err := p.acquire(ctx, to)
		if err != nil {
			return err
		}
		err = l.send(ctx, m) // which releases l
		if err == nil || !again || l.made.After(start) || !judge(err).closed() {
			return err
		}
	}
}

// acquire returns an open link to a destination, for the caller to release.
func (p *pool) acquire(ctx context.Context, to destination) (*link, error) {
	for {
		l, wait, err := p.find(to) //nolint:contextcheck // a link outlives the attempt that opens it
		switch {
		case err != nil:
			return nil, err
		case l != nil:
			if err := l.wait(ctx); err != nil {
				p.release(l)
				return nil, err
			}
			return l, nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, &interruption{stage: "while all links were in use", waited: true}
		}
	}
}

// find returns the link to a destination, which may still be opening, with the
// caller as its user. It returns a channel instead when all links are in use;
// when that is closed, the caller asks again.
func (p *pool) find(to destination) (*link, <-chan struct{}, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, nil, errClosed
	}
	l, ok := p.links[to]
	if ok && time.Since(l.made) > p.times.most {
		p.drop(l)
		ok = false
	}
	if !ok {
		if len(p.links) >= p.config.MaxLinks && !p.evict() {
			if p.freed == nil {
				p.freed = make(chan struct{})
			}
			return nil, p.freed, nil
		}
		var err error
		if l, err = p.open(to); err != nil {
			return nil, nil, err
		}
	}
	p.use(l)
	return l, nil, nil
}

// use counts a user of l.
func (p *pool) use(l *link) {
	l.users++
	p.tasks.Add(1)
}

// open begins to open a link, which counts as a user until that has ended.
func (p *pool) open(to destination) (*link, error) {
	c, ok := p.connections[to.account()]
	if !ok {
		var err error
		if c, err = newConnection(p, to.account()); err != nil {
			return nil, err
		}
		p.connections[c.account] = c
		p.living[c] = struct{}{}
	}
	l := p.start(c, to)
	p.links[to] = l
	if p.sweeper == nil {
		p.sweeper = time.AfterFunc(min(p.config.IdleAfter, p.times.renew), p.sweep)
	}
	return l, nil
}

// start begins to open a link on a connection.
func (p *pool) start(c *connection, to destination) *link {
	l := newLink(p, c, to)
	c.links++
	p.use(l)
	go l.open()
	return l
}

// release ends one use of l.
func (p *pool) release(l *link) {
	defer p.tasks.Done()
	p.mu.Lock()
	defer p.mu.Unlock()
	l.users--
	l.used = time.Now()
	switch {
	case l.users > 0:
	case l.dropped:
		p.finish(l)
	case p.freed != nil:
		p.drop(l)
	}
}

// drop takes l from later attempts. It is closed when nobody uses it any more.
func (p *pool) drop(l *link) {
	if l.dropped {
		return
	}
	l.dropped = true
	if p.links[l.to] == l {
		delete(p.links, l.to)
	}
	if p.freed != nil {
		close(p.freed)
		p.freed = nil
	}
	if l.users == 0 {
		p.finish(l)
	}
}

// finish closes l, and its connection if it was the last one.
func (p *pool) finish(l *link) {
	c := l.connection
	c.links--
	var what closer = l
	if c.links == 0 {
		p.forget(c)
		what = c
	}
	p.tasks.Go(what.close)
}

// closer is a link or a connection with all its links.
type closer interface {
	close()
}

// forget takes c from later links.
func (p *pool) forget(c *connection) {
	if p.connections[c.account] == c {
		delete(p.connections, c.account)
	}
}

// bury takes c, which is closed, from the living.
func (p *pool) bury(c *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.living, c)
}

// dropLink is [pool.drop] for those who do not hold the mutex.
func (p *pool) dropLink(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(l)
}

// dropConnection takes c and its links from later attempts.
func (p *pool) dropConnection(c *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget(c)
	for _, l := range p.links {
		if l.connection == c {
			p.drop(l)
		}
	}
}

// evict drops the link that is idle for the longest, if one is.
func (p *pool) evict() bool {
	var oldest *link
	for _, l := range p.links {
		if l.users == 0 && (oldest == nil || l.used.Before(oldest.used)) {
			oldest = l
		}
	}
	if oldest != nil {
		p.drop(oldest)
	}
	return oldest != nil
}

// close drops everything and waits until it is gone.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	if p.sweeper != nil {
		p.sweeper.Stop()
	}
	for _, l := range p.links {
		p.drop(l)
	}
	for c := range p.living {
		c.cancel(errClosed)
	}
	p.mu.Unlock()
	p.tasks.Wait()
}
