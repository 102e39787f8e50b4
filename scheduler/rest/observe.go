package rest

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/tracing"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// The headers that tell requests apart: by the server, by the client, and by what
// several requests are part of.
const (
	requestIDHeader     = "X-Ms-Request-Id"
	clientIDHeader      = "X-Ms-Client-Request-Id"
	correlationIDHeader = "X-Ms-Correlation-Request-Id"

	returnClientID = "X-Ms-Return-Client-Request-Id" // false: the client's is not wanted back
)

// longestID is how long an id that is given back may be, in bytes: they are UUIDs.
const longestID = 256

// echo gives back the ids that a request came with. What is part of nothing else
// is correlated with itself.
func echo(h http.Header, r *http.Request, id string) {
	if given := r.Header.Get(correlationIDHeader); given != "" && len(given) <= longestID {
		id = given
	}
	h.Set(correlationIDHeader, id)
	given := r.Header.Get(clientIDHeader)
	if given != "" && len(given) <= longestID && !strings.EqualFold(r.Header.Get(returnClientID), "false") {
		h.Set(clientIDHeader, given)
	}
}

// observe gives every request its id, logs it, and turns a panic into an
// answer.
func (a *server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:contextcheck // it is made of the request's, below
		begin := time.Now()
		id := requestID()
		w.Header().Set(requestIDHeader, id)
		echo(w.Header(), r, id)
		if len(r.TransferEncoding) > 0 {
			// Something before us may have found another end of this body, and what follows would pass for a request of
			// somebody else: RFC 9112, section 6.1, has the connection ended after Transfer-Encoding and Content-Length.
			w.Header().Set("Connection", "close")
		}
		w.Header().Set("Server", "Carillon/"+a.version)
		out, asked := &response{ResponseWriter: w}, &asking{}
		ctx, span := a.trace(r)
		defer func() {
			p := recover()
			if p != nil && p != http.ErrAbortHandler { //nolint:errorlint,err113 // the value that net/http defines
				a.log.ErrorContext(ctx, "request panicked", "method", r.Method, "path", r.URL.Path, "requestId", id,
					"err", p, "stack", string(debug.Stack()))
			}
			if p != nil && out.status != 0 {
				panic(http.ErrAbortHandler) // half an answer is out: end the connection
			}
			if p != nil {
				send(out, http.StatusInternalServerError, view.JSON(describe(fmt.Errorf("panic: %v", p)).Document()))
			}
			name, route := asked.name()
			if !asked.tail {
				a.observed(name, cmp.Or(out.status, http.StatusOK), time.Since(begin))
			}
			if route == "" {
				name = "HTTP " + name
			}
			span.Answered(name, route, cmp.Or(out.status, http.StatusOK))
			a.log.DebugContext(ctx, "request", "method", r.Method, "path", r.URL.Path, "status", out.status,
				"duration", time.Since(begin), "requestId", id)
		}()
		asks := context.WithValue(ctx, askingKey{}, asked)
		next.ServeHTTP(out, r.WithContext(service.WithCaller(asks, caller(r)))) //nolint:contextcheck // likewise
	})
}

// probes are asked again and again by machines: they are not traced.
var probes = []string{"/healthz", "/readyz", "/metrics"}

// trace begins the span of a request. A live tail has none: it may last for days.
func (a *server) trace(r *http.Request) (context.Context, tracing.Span) {
	if a.tracer == nil || slices.Contains(probes, r.URL.Path) || Streams(r) {
		return r.Context(), tracing.Span{}
	}
	return a.tracer.Request(r.Context(), r.Method, r.Header)
}

// otherOperation is what is asked for that does not exist, or that is refused before it is known.
const otherOperation = "other"

// asking is what turns out to be asked for.
type asking struct {
	operation *api.Operation // nil: none
	tail      bool           // it lasts as long as its reader wants
}

// name is the name of the operation, and its route; "" for none.
func (a *asking) name() (name, route string) {
	if a.operation == nil {
		return otherOperation, ""
	}
	name = a.operation.Name()
	return name, strings.TrimPrefix(name, a.operation.Method+" ")
}

type askingKey struct{}

// askingOf returns what is noted of the request of ctx.
func askingOf(ctx context.Context) *asking {
	if asked, ok := ctx.Value(askingKey{}).(*asking); ok {
		return asked
	}
	return &asking{} // for nobody
}

// caller tells callers apart by their addresses.
func caller(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// requestID returns a random UUID (version 4), as Azure's ids are.
func requestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// response notes the status of what is sent.
type response struct {
	http.ResponseWriter

	status int // 0: nothing sent yet
}

// WriteHeader notes the status and sends it.
func (r *response) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the body.
func (r *response) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	return r.ResponseWriter.Write(p)
}

// Unwrap lets [http.ResponseController] reach the connection.
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }
