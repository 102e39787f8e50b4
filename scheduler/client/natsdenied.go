package client

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/scheduler/flow"
)

// lookEvery is the interval of checks for a denied subject while a request waits.
const lookEvery = 100 * time.Millisecond

// unlessDenied returns a context that ends with an [Error] of status 403 if the connection's user may not publish to a
// subject or receive answers. The server reports the denial to the connection only and sends no answer. The returned
// function ends the watch.
func unlessDenied(ctx context.Context, conn *nats.Conn, subject string) (context.Context, func()) {
	watched, cancel := context.WithCancelCause(ctx)
	before := conn.LastError()
	go func() {
		for flow.Pause(watched, lookEvery) {
			err := conn.LastError()
			if err != before && errors.Is(err, nats.ErrPermissionViolation) { //nolint:errorlint // the same error, or another
				if denied := denial(err, subject); denied != nil {
					cancel(denied)
				}
			}
		}
	}()
	return watched, func() { cancel(nil) }
}

// denial returns the error for a permission violation; nil if it concerns another subject.
func denial(violation error, subject string) error {
	text := strings.ToLower(violation.Error())
	switch {
	case strings.Contains(text, `"`+strings.ToLower(subject)+`"`):
		return &Error{Status: http.StatusForbidden, Code: "AuthorizationFailed", Message: "the NATS user may not publish to " + subject}
	case strings.Contains(text, "subscription"):
		return &Error{
			Status: http.StatusForbidden, Code: "AuthorizationFailed",
			Message: "the NATS user may not hear answers there: its inbox prefix is another one: " + violation.Error(),
		}
	}
	return nil
}
