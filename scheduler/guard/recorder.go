package guard

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
)

// Recorder records the status of an answer.
type Recorder struct {
	http.ResponseWriter

	status int // 0: not sent yet
}

// WriteHeader records and sends the status.
func (r *Recorder) WriteHeader(status int) {
	r.status = cmp.Or(r.status, status)
	r.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the body.
func (r *Recorder) Write(p []byte) (int, error) {
	r.status = r.Status()
	return r.ResponseWriter.Write(p)
}

// Unwrap lets [http.ResponseController] reach the connection.
func (r *Recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Status is the status of the answer; 200 if the handler sends none.
func (r *Recorder) Status() int { return cmp.Or(r.status, http.StatusOK) }

// Recovered logs the panic p of a request, nil for none, with attrs, and answers with fail. It closes the connection if the
// answer has begun.
func (r *Recorder) Recovered(ctx context.Context, p any, log *slog.Logger, asked *http.Request, fail func(error), attrs ...any) {
	if p == nil {
		return
	}
	if p != http.ErrAbortHandler { //nolint:errorlint,err113 // the value that net/http defines
		log = log.With("method", asked.Method, "path", asked.URL.Path).With(attrs...)
		log.ErrorContext(ctx, "request panicked", "err", p, "stack", string(debug.Stack()))
	}
	if r.status != 0 {
		panic(http.ErrAbortHandler)
	}
	fail(fmt.Errorf("panic: %v", p))
}
