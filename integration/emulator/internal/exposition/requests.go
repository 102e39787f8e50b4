package exposition

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
)

// Requests counts HTTP requests by method and status. The zero value has none.
type Requests struct {
	mu     sync.Mutex
	counts map[request]float64
}

type request struct {
	method string
	status int
}

// methods are those that are told apart. Clients may not make up others.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, http.MethodPatch,
}

// Count counts a request.
func (r *Requests) Count(method string, status int) {
	if !slices.Contains(methods, method) {
		method = "other"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counts == nil {
		r.counts = map[request]float64{}
	}
	r.counts[request{method, status}]++
}

// Counting returns a handler that counts what another answers.
func (r *Requests) Counting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		answered := &statusWriter{ResponseWriter: w}
		defer func() { r.Count(req.Method, cmp.Or(answered.status, http.StatusOK)) }()
		next.ServeHTTP(answered, req)
	})
}

// Metric returns the counts so far.
func (r *Requests) Metric(name string) Metric {
	m := Metric{Name: name, Kind: Counter, Help: "Requests by method and status."}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range slices.SortedFunc(maps.Keys(r.counts), func(a, b request) int {
		return cmp.Or(cmp.Compare(a.method, b.method), cmp.Compare(a.status, b.status))
	}) {
		m.Add(r.counts[key], "method", key.method, "status", strconv.Itoa(key.status))
	}
	return m
}

// A statusWriter notes the status of an answer.
type statusWriter struct {
	http.ResponseWriter

	status int
}

// WriteHeader is for handlers.
func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for [http.ResponseController].
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
