package throttle

import "sync"

// callersShare is the part of all places that one caller may have: one in so many.
const callersShare = 4

// Places are how many of something there may be at once, such as live tails: all together, and a quarter of these of one
// caller. They are safe for concurrent use.
type Places struct {
	most int

	mu       sync.Mutex
	all      int
	byCaller map[string]int
}

// NewPlaces returns so many.
func NewPlaces(most int) *Places { return &Places{most: most, byCaller: map[string]int{}} }

// Full is the error of who does not get a place.
type Full struct {
	Own  bool // the caller has as many as one may have: it is for the caller to end one
	Most int  // how many the caller, or all together, may have
}

// Error says which there are too many of.
func (f *Full) Error() string {
	if f.Own {
		return "the caller has as many as one caller may have"
	}
	return "there are as many as there may be"
}

// Take gives a caller a place until leave is called, or says as a [*Full] why there is none.
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

// Taken returns how many are taken, and by how many callers.
func (p *Places) Taken() (all, callers int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all, len(p.byCaller)
}
