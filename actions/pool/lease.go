package pool

import "context"

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

// Drop takes the connection from later users. It is to be released all the same.
func (l *Lease[K, C]) Drop() {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	l.pool.drop(l.entry)
}
