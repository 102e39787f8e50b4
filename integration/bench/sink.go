package main

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// sink is the target of all calls: an HTTP server on loopback that notes when
// each Idempotency-Key arrives and answers 200 with nothing. In a process of its
// own, only what was collected from there is found here.
type sink struct {
	url    string
	server *http.Server // nil in a process of its own
	remote *remoteSink  // nil in this process

	mu       sync.Mutex
	arrivals map[string]arrival // by key
}

// arrival is what came under one key.
type arrival struct {
	first time.Time
	calls int
}

// spawnSink starts a sink in a process of its own.
func spawnSink(ctx context.Context, dir string) (*sink, *process, error) {
	p, url, err := spawnChild(ctx, processSink, dir, childSink)
	if err != nil {
		return nil, nil, err
	}
	return &sink{url: url, remote: &remoteSink{ctx: ctx, url: url}, arrivals: map[string]arrival{}}, p, nil
}

func newSink(ctx context.Context) (*sink, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &sink{url: "http://" + l.Addr().String() + "/", arrivals: map[string]arrival{}}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.server.Serve(l) }() // until close
	return s, nil
}

// ServeHTTP notes the call. The answer is an empty 200.
func (s *sink) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	s.note(r.Header.Get("Idempotency-Key"), time.Now())
}

// here lets the sink find what is noted in this process, though it has one of its own.
func (s *sink) here() *sink {
	s.remote = nil
	return s
}

// note notes that a call arrived.
func (s *sink) note(key string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.arrivals[key]
	a.calls++
	if a.calls == 1 {
		a.first = at
	}
	s.arrivals[key] = a
}

// collect takes over what has arrived in the sink's process.
func (s *sink) collect(ctx context.Context) error {
	if s.remote == nil {
		return nil
	}
	return s.remote.collect(ctx, s.note)
}

// distinct is how many keys have arrived.
func (s *sink) distinct() int {
	if s.remote != nil {
		return s.remote.distinct()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.arrivals)
}

// find returns what arrived under a key.
func (s *sink) find(key string) (arrival, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.arrivals[key]
	return a, ok
}

// each calls f with everything that arrived.
func (s *sink) each(f func(key string, a arrival)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, a := range s.arrivals {
		f(key, a)
	}
}

// close ends the server, and the connections that are still open.
func (s *sink) close() {
	if s.server != nil {
		_ = s.server.Close()
	}
}
