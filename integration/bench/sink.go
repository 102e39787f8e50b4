package main

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// sink is the target of all calls: an HTTP server on loopback that notes when
// each Idempotency-Key arrives and answers 200 with nothing.
type sink struct {
	url    string
	server *http.Server

	mu       sync.Mutex
	arrivals map[string]arrival // by key
}

// arrival is what came under one key.
type arrival struct {
	first time.Time
	calls int
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

// distinct is how many keys have arrived.
func (s *sink) distinct() int {
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
func (s *sink) close() { _ = s.server.Close() }
