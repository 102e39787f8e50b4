package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Error is an error answer of the server.
type Error struct {
	Status  int
	Code    string
	Message string
	Details document.Problems // problems of the input, by path
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Is reports whether target is the sentinel of the status.
func (e *Error) Is(target error) bool {
	switch e.Status {
	case http.StatusBadRequest:
		return target == scheduler.ErrInvalid
	case http.StatusNotFound:
		return target == scheduler.ErrNotFound
	case http.StatusConflict:
		return target == scheduler.ErrConflict
	case http.StatusPreconditionFailed:
		return target == scheduler.ErrPrecondition || target == scheduler.ErrConflict
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return target == scheduler.ErrUnavailable
	}
	return false
}

// Unwrap returns the details.
func (e *Error) Unwrap() error {
	if len(e.Details) == 0 {
		return nil
	}
	return e.Details
}

// askedInPlain is part of the answer of a net/http TLS server to a plain HTTP request.
const askedInPlain = "Client sent an HTTP request to an HTTPS server"

// refusal decodes an answer whose status is not 2xx.
func (c *Client) refusal(resp *http.Response, body []byte) error {
	if bytes.Contains(body, []byte(askedInPlain)) {
		return &UnreachableError{c.server, errPlain}
	}
	var doc struct {
		Error struct {
			Code    string            `json:"code"`
			Message string            `json:"message"`
			Details document.Problems `json:"details"`
		} `json:"error"`
	}
	if err := json.Unmarshal(body, &doc); err != nil || doc.Error.Message == "" {
		asked := resp.Request.URL.Redacted()
		if path, ok := strings.CutPrefix(asked, c.base); ok {
			asked = c.server + path
		}
		return &Error{Status: resp.StatusCode, Message: fmt.Sprintf("%s answered %s", asked, resp.Status)}
	}
	return &Error{resp.StatusCode, doc.Error.Code, doc.Error.Message, doc.Error.Details}
}

// UnreachableError reports that no server answered.
type UnreachableError struct {
	Server string
	Err    error
}

// Error names the server and the reason.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("no answer from %s: %v", e.Server, e.Err)
}

// Unwrap makes it [scheduler.ErrUnavailable].
func (e *UnreachableError) Unwrap() []error { return []error{scheduler.ErrUnavailable, e.Err} }

// Servers that may be listening in place of a scheduler.
var (
	errNATS    = errors.New("a NATS server responds, not a scheduler")
	errNotHTTP = errors.New("the server does not speak HTTP")
	errPlain   = errors.New("the server requires TLS: use an https:// address")
	errTLS     = errors.New("the server does not use TLS: use an http:// address")
)

// natsGreeting is part of the greeting of a NATS server, as net/http quotes it.
const natsGreeting = "server_id"

// spokeFirst is the error of net/http for a greeting that arrives before the request is written.
const spokeFirst = "readLoopPeekFailLocked: %!w(<nil>)"

// greeting returns what a server sends unprompted.
func greeting(ctx context.Context, server string) string {
	const patience = time.Second
	u, err := url.Parse(server)
	if err != nil {
		return ""
	}
	conn, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return ""
	}
	defer conn.Close()
	_ = conn.SetReadDeadline(time.Now().Add(patience)) // without a deadline, Read blocks until the server speaks
	text := make([]byte, 512)
	n, _ := conn.Read(text) // an empty greeting is valid, too
	return string(text[:n])
}

// errEnded reports that the server ended a live tail.
var errEnded = errors.New("the server ended the live tail")

// unreachable wraps the error of a request without an answer. The error of an ended context stays unchanged.
func unreachable(ctx context.Context, server string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if _, ok := errors.AsType[*UnsupportedError](err); ok {
		return err
	}
	if e, ok := errors.AsType[*Error](err); ok && e.Status == http.StatusForbidden { // of the NATS server
		return e
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		err = op.Err // the message already has the address
	}
	if errors.Is(err, http.ErrSchemeMismatch) {
		err = errTLS
	}
	if text := err.Error(); strings.Contains(text, "malformed HTTP") {
		err = errNotHTTP
		if strings.Contains(text, natsGreeting) {
			err = errNATS
		}
	} else if strings.Contains(text, spokeFirst) {
		err = errNotHTTP
		if strings.Contains(greeting(ctx, server), natsGreeting) {
			err = errNATS
		}
	}
	return &UnreachableError{server, err}
}
