package rest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/guard"
	"github.com/carillon-sched/carillon/scheduler/tracing"
)

// The headers that identify requests: the server's id, the client's id, and the id of a group of requests.
const (
	requestIDHeader     = "X-Ms-Request-Id"
	clientIDHeader      = "X-Ms-Client-Request-Id"
	correlationIDHeader = "X-Ms-Correlation-Request-Id"

	returnClientID = "X-Ms-Return-Client-Request-Id" // false: do not return the client's id
)

// longestID limits the ids that an answer repeats, in bytes; usual ids are UUIDs.
const longestID = 256

// echo repeats the ids of a request in its answer. The correlation id defaults to the request's own id.
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

// observe assigns each request an id, logs it, and converts a panic to an answer.
func (a *server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:contextcheck // it is made of the request's, below
		begin := time.Now()
		id := requestID()
		w.Header().Set(requestIDHeader, id)
		echo(w.Header(), r, id)
		if len(r.TransferEncoding) > 0 {
			// A proxy may have found another end of this body, and would take what follows for another client's
			// request. RFC 9112, section 6.1, requires closing the connection after Transfer-Encoding and
			// Content-Length.
			w.Header().Set("Connection", "close")
		}
		w.Header().Set("Server", "Carillon/"+a.Version)
		out, asked := &guard.Recorder{ResponseWriter: w}, &asking{}
		ctx, span := a.trace(r)
		defer func() {
			out.Recovered(ctx, recover(), a.Logger, r, func(err error) {
				send(out, http.StatusInternalServerError, v1.JSON(describe(err).Document()))
			}, "requestId", id)
			name, route := asked.name()
			if !asked.tail {
				a.Observe(name, out.Status(), time.Since(begin))
			}
			if route == "" {
				name = "HTTP " + name
			}
			span.Answered(name, route, out.Status())
			a.Logger.DebugContext(ctx, "request", "method", r.Method, "path", r.URL.Path, "status", out.Status(),
				"duration", time.Since(begin), "requestId", id)
		}()
		asks := context.WithValue(ctx, askingKey{}, asked)
		next.ServeHTTP(out, r.WithContext(control.WithCaller(asks, guard.Address(r)))) //nolint:contextcheck // likewise
	})
}

// probes are frequent requests of machines, which are not traced.
var probes = []string{"/healthz", "/readyz", "/metrics"}

// trace begins the span of a request. Live tails have none, because they may last for days.
func (a *server) trace(r *http.Request) (context.Context, tracing.Span) {
	if a.Tracer == nil || slices.Contains(probes, r.URL.Path) || Streams(r) {
		return r.Context(), tracing.Span{}
	}
	return a.Tracer.Request(r.Context(), r.Method, r.Header)
}

// otherOperation is the name of requests without an operation, or refused before routing.
const otherOperation = "other"

// asking describes a request.
type asking struct {
	operation *api.Operation // nil: unknown
	tail      bool           // unbounded duration
}

// name returns the name of the operation, and its route; "" for none.
func (a *asking) name() (name, route string) {
	if a.operation == nil {
		return otherOperation, ""
	}
	name = a.operation.Name()
	return name, strings.TrimPrefix(name, a.operation.Method+" ")
}

type askingKey struct{}

// askingOf returns the description of the request of ctx.
func askingOf(ctx context.Context) *asking {
	if asked, ok := ctx.Value(askingKey{}).(*asking); ok {
		return asked
	}
	return &asking{} // not stored
}

// requestID returns a random UUID (version 4), the form of Azure's ids.
func requestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}
