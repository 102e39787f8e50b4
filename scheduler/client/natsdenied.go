package client

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// lookEvery is how often it is looked whether the server forbids what waits for an answer.
const lookEvery = 100 * time.Millisecond

// unlessDenied returns a context that ends with an [Error] of status 403 when the server does not let the connection's
// user publish to a subject, or hear answers. It tells that to the connection alone, and answers nothing. The function
// returned ends the watch.
func unlessDenied(ctx context.Context, conn *nats.Conn, subject string) (context.Context, func()) {
	watched, cancel := context.WithCancelCause(ctx)
	before := conn.LastError()
	go func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-watched.Done():
				return
			}
			err := conn.LastError()
			if err != before && errors.Is(err, nats.ErrPermissionViolation) { //nolint:errorlint // the same one, or another
				if denied := denial(err, subject); denied != nil {
					cancel(denied)
				}
			}
		}
	}()
	return watched, func() { cancel(nil) }
}

// denial says what the server forbids; nil when it is something else than what was asked for.
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
