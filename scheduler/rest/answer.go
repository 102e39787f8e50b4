package rest

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/guard"
	"github.com/carillon-sched/carillon/scheduler/throttle"
)

// fault is an error of HTTP that the service does not have.
type fault struct {
	status  int
	code    string
	message string
}

// Error returns the message.
func (f fault) Error() string { return f.message }

// retryAfter is the Retry-After of a 503, in seconds.
const retryAfter = "1"

// answer sends a view.
func answer(w http.ResponseWriter, status int, v any) error {
	send(w, status, v1.JSON(v))
	return nil
}

// send sends JSON. It ignores write errors: the client has disconnected.
func send(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = bytes.NewReader(body).WriteTo(w)
}

// describe returns the document of an error.
func describe(err error) v1.Error {
	if f, ok := err.(fault); ok { //nolint:errorlint // faults are not wrapped
		return v1.Error{Status: f.status, Code: f.code, Message: f.message}
	}
	if t, ok := errors.AsType[*throttle.Exceeded](err); ok {
		return v1.Error{Status: http.StatusTooManyRequests, Code: "TooManyRequests", Message: t.Error()}
	}
	return v1.DescribeError(err)
}

// refusal sends an error.
type refusal func(a *server, w http.ResponseWriter, r *http.Request, err error)

// refuse sends an error as its document.
func (a *server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	d := describe(err)
	if errors.Is(err, scheduler.ErrUnavailable) {
		d.Message = explained(d.Message, a.Ready(r.Context()))
	}
	a.note(w, r, d.Status, err)
	send(w, d.Status, v1.JSON(d.Document()))
}

// explained adds the cause and the fix to a message of /readyz, if known.
func explained(message string, why error) string {
	before, _, is := strings.Cut(message, scheduler.ErrUnavailable.Error()+": ")
	if why == nil || !is {
		return message
	}
	return before + scheduler.ErrUnavailable.Error() + ": " + why.Error()
}

// note sets the headers of an error and logs defects.
func (a *server) note(w http.ResponseWriter, r *http.Request, status int, err error) {
	if failed, ok := errors.AsType[*scheduler.PreconditionError](err); ok && failed.ETag != "" {
		w.Header().Set("ETag", failed.ETag)
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		challenge(w, err)
	case http.StatusInternalServerError:
		a.Logger.ErrorContext(r.Context(), "request failed because of a defect", "method", r.Method, "path", r.URL.Path,
			"requestId", w.Header().Get(requestIDHeader), "err", err)
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		w.Header().Set("Retry-After", retryAfter)
	}
	if t, ok := errors.AsType[*throttle.Exceeded](err); ok {
		w.Header().Set("Retry-After", guard.RetryAfter(t.After))
	}
}

// challenge sets WWW-Authenticate for an unknown or unauthorized caller (RFC 6750, section 3).
func challenge(w http.ResponseWriter, err error) {
	const realm = `Bearer realm="carillon"`
	if denied, ok := errors.AsType[*auth.Denied](err); ok {
		w.Header().Set("WWW-Authenticate", realm+`, error="insufficient_scope", scope="`+string(denied.Needs())+`"`)
	}
	if unknown, ok := errors.AsType[*auth.Unknown](err); ok && unknown.Reason == "" {
		w.Header().Set("WWW-Authenticate", realm)
	} else if ok {
		w.Header().Set("WWW-Authenticate", realm+`, error="invalid_token"`)
	}
}

// handler converts an action to an HTTP handler.
func (a *server) handler(do action, refuse refusal) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := do(a, w, r); err != nil {
			refuse(a, w, r, err)
		}
	})
}
