package connlimit

import (
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// Watch has a server, whose listener is the limiter's, tell which connections are
// waited for: until a request's body has come, and after its answer has gone.
// Bodies have to come within patience; 0 leaves that to the server. Call it once
// the server has its Handler and ConnState.
func (c *Limiter) Watch(s *http.Server, patience time.Duration) {
	s.Handler = c.handler(s.Handler, patience)
	state := s.ConnState
	s.ConnState = func(k net.Conn, now http.ConnState) {
		if now == http.StateIdle {
			c.Idle(k.RemoteAddr().String())
		}
		if state != nil {
			state(k, now)
		}
	}
}

func (c *Limiter) handler(h http.Handler, patience time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
			c.Busy(r.RemoteAddr)
			h.ServeHTTP(w, r)
			return
		}
		control := http.NewResponseController(w)
		b := &body{ReadCloser: r.Body, come: func() {
			c.Busy(r.RemoteAddr)
			if patience > 0 {
				_ = control.SetReadDeadline(time.Time{}) // where there is no connection, there is no need
			}
		}}
		if patience > 0 {
			_ = control.SetReadDeadline(time.Now().Add(patience)) // as above
		}
		r.Body = b
		h.ServeHTTP(w, r)
	})
}

// body is the body of a request, that says when it has come.
type body struct {
	io.ReadCloser

	come func()
	done bool
}

// Read reads from the body.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) && !b.done {
		b.done = true
		b.come()
	}
	return n, err
}
