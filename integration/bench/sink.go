package main

import (
	"context"
	"hash/maphash"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// sink is the target of all calls: an HTTP server on loopback that notes when
// each Idempotency-Key arrives and answers 200 with nothing.
type sink struct {
	url    string
	server *http.Server
	seed   maphash.Seed
	shards [64]shard
	keys   atomic.Int64 // distinct ones
}

// shard is the part of the arrivals that one lock guards.
type shard struct {
	mu       sync.Mutex
	arrivals map[string]arrival
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
	s := &sink{url: "http://" + l.Addr().String() + "/", seed: maphash.MakeSeed()}
	for i := range s.shards {
		s.shards[i].arrivals = map[string]arrival{}
	}
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
	sh := s.shard(key)
	sh.mu.Lock()
	a := sh.arrivals[key]
	a.calls++
	if a.calls == 1 {
		a.first = at
		s.keys.Add(1)
	}
	sh.arrivals[key] = a
	sh.mu.Unlock()
}

func (s *sink) shard(key string) *shard {
	return &s.shards[maphash.String(s.seed, key)%uint64(len(s.shards))]
}

// distinct is how many keys have arrived.
func (s *sink) distinct() int { return int(s.keys.Load()) }

// find returns what arrived under a key.
func (s *sink) find(key string) (arrival, bool) {
	sh := s.shard(key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	a, ok := sh.arrivals[key]
	return a, ok
}

// each calls f with everything that arrived.
func (s *sink) each(f func(key string, a arrival)) {
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		for key, a := range sh.arrivals {
			f(key, a)
		}
		sh.mu.Unlock()
	}
}

// close ends the server, and the connections that are still open.
func (s *sink) close() { _ = s.server.Close() }
