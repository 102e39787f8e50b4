package throttle

import "sync"

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
	Most int // the limit that was reached
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
