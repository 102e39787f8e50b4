package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// The paths at which the sink's process tells what has arrived. All others are calls.
const (
	pathCount    = "/__count"
	pathArrivals = "/__arrivals" // ?from=N: those after the first N
)

// recorder is the sink in a process of its own: an HTTP server on loopback that notes when each call arrives, and tells it
// afterwards.
type recorder struct {
	url    string
	server *http.Server

	mu       sync.Mutex
	calls    []call
	distinct map[string]struct{}
}

// call is one request.
type call struct {
	key string
	at  time.Time
}

func newRecorder(ctx context.Context) (*recorder, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &recorder{url: "http://" + l.Addr().String() + "/", distinct: map[string]struct{}{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/", r.note)
	mux.HandleFunc(pathCount, r.count)
	mux.HandleFunc(pathArrivals, r.arrivals)
	r.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = r.server.Serve(l) }() // until close
	return r, nil
}

// note notes a call. The answer is an empty 200.
func (r *recorder) note(_ http.ResponseWriter, req *http.Request) {
	c := call{req.Header.Get("Idempotency-Key"), time.Now()}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, c)
	r.distinct[c.key] = struct{}{}
}

// count tells how many different keys have arrived.
func (r *recorder) count(w http.ResponseWriter, _ *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprint(w, len(r.distinct))
}

// arrivals tells the calls, each on a line: its time in nanoseconds since 1970, and its key.
func (r *recorder) arrivals(w http.ResponseWriter, req *http.Request) {
	from, err := strconv.Atoi(req.URL.Query().Get("from"))
	r.mu.Lock()
	calls := r.calls // what is there does not change
	r.mu.Unlock()
	if err != nil || from < 0 || from > len(calls) {
		http.Error(w, "from: not the number of a call", http.StatusBadRequest)
		return
	}
	out := bufio.NewWriter(w)
	for _, c := range calls[from:] {
		fmt.Fprintf(out, "%d %s\n", c.at.UnixNano(), c.key)
	}
	_ = out.Flush()
}

func (r *recorder) close() { _ = r.server.Close() }
