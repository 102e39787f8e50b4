package chaos

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// sink is the target of all calls: it notes each one, and answers.
type sink struct {
	url    string
	life   atomic.Int64 // number of the process that connects from now on
	answer func(call) int
	noted  atomic.Pointer[func(call)] // called after a call was noted, before it is answered

	mu    sync.Mutex
	calls []call
	keys  map[string]time.Time // first arrival
}

// call is one request to the sink.
type call struct {
	id      attemptID
	job     string
	nominal time.Time
	at      time.Time
	life    int64 // of the process that called
	region  string
}

// attemptID names an attempt: the occurrence, which is the idempotency key, and which try of it.
type attemptID struct {
	key string
	try int
}

// String returns the id as the history has it.
func (a attemptID) String() string { return a.key + "#" + strconv.Itoa(a.try) }

type lifeKey struct{}

// newSink starts a sink. answer gives the status of each call; nil answers 200.
func newSink(t *testing.T, answer func(call) int) *sink {
	t.Helper()
	if answer == nil {
		answer = func(call) int { return http.StatusOK }
	}
	s := &sink{answer: answer, keys: map[string]time.Time{}}
	server := httptest.NewUnstartedServer(s)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // killed clients break off
	server.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		return context.WithValue(ctx, lifeKey{}, s.life.Load())
	}
	server.Start()
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// ServeHTTP notes the call and answers it.
func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := call{at: time.Now(), region: r.Header.Get("X-Ms-Scheduler-Execution-Region")}
	c.life, _ = r.Context().Value(lifeKey{}).(int64)
	c.id.key = r.Header.Get("Idempotency-Key")
	c.id.try, _ = strconv.Atoi(r.Header.Get("X-Carillon-Attempt"))
	var err error
	if c.job, c.nominal, err = splitOccurrence(c.id.key); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.calls = append(s.calls, c)
	if _, again := s.keys[c.id.key]; !again {
		s.keys[c.id.key] = c.at
	}
	s.mu.Unlock()
	if f := s.noted.Load(); f != nil {
		(*f)(c)
	}
	w.WriteHeader(s.answer(c))
}

// splitOccurrence reads collection/job@time.
func splitOccurrence(id string) (job string, nominal time.Time, err error) {
	job, text, ok := strings.Cut(id, "@")
	if !ok {
		return "", time.Time{}, fmt.Errorf("%q is not the id of an occurrence", id)
	}
	nominal, err = time.Parse(time.RFC3339Nano, text)
	return job, nominal, err
}

// seen returns the calls so far.
func (s *sink) seen() []call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]call{}, s.calls...)
}

// distinct returns how many idempotency keys have come.
func (s *sink) distinct() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.keys)
}
