package frame

import (
	"cmp"
	"fmt"
	"net/http"
	"runtime/debug"
)

// response records the status of an answer.
type response struct {
	http.ResponseWriter

	status int  // 0: not sent yet
	live   bool // unbounded duration
}

// WriteHeader records and sends the status.
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

func (r *response) sent() int { return cmp.Or(r.status, http.StatusOK) }

// recovered converts a panic to an answer, or closes the connection if the answer has begun.
func (f *Frame) recovered(c *Call, out *response, p any) {
	if p == nil {
		return
	}
	if p != http.ErrAbortHandler { //nolint:errorlint,err113 // the value that net/http defines
		f.log.ErrorContext(c.Context(), "request panicked", "method", c.Request.Method, "path", c.Request.URL.Path,
			"err", p, "stack", string(debug.Stack()))
	}
	if out.status != 0 {
		panic(http.ErrAbortHandler)
	}
	c.fail(fmt.Errorf("panic: %v", p))
}

// Guarded runs work in addition to the request of a call. It converts a panic to a logged error, because a panic would
// end the process.
func Guarded[T any](c *Call, work func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.frame.log.Error("work in the background panicked", "room", c.room, "err", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return work()
}
