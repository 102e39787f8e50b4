package protocol

import "sync"

// readyLinks are the links of a connection that may have something to deliver. Adding to them takes no other lock, so that the
// broker may do it whatever it holds.
type readyLinks struct {
	mu    sync.Mutex
	links []*outgoing
}

// add puts a link in, once.
func (r *readyLinks) add(l *outgoing) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !l.queued {
		l.queued = true
		r.links = append(r.links, l)
	}
}

// take returns the links and leaves none.
func (r *readyLinks) take(reuse []*outgoing) []*outgoing {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.links
	for _, l := range taken {
		l.queued = false
	}
	clear(reuse)
	r.links = reuse[:0]
	return taken
}
