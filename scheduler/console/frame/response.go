package frame

import (
	"cmp"
	"fmt"
	"net/http"
	"runtime/debug"
)

// response notes what is sent.
type response struct {
	http.ResponseWriter

	status int  // 0: nothing sent yet
	live   bool // it lasts as long as its reader wants
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

func (r *response) sent() int { return cmp.Or(r.status, http.StatusOK) }

// recovered turns a panic into an answer, or ends the connection when half of one is out.
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

// Guarded does work that goes on beside the request of a call. A panic is an error there, too, and in the log: it must not end
// the process.
func Guarded[T any](c *Call, work func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.frame.log.Error("work in the background panicked", "room", c.room, "err", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return work()
}
