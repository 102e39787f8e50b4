package rest

import (
	"crypto/rand"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/auth"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/fault"
)

// Config says whose messages are sent and received.
type Config struct {
	// Broker has the entities. It is required.
	Broker *broker.Broker
	// Keys checks tokens. Unless it is strict, requests need none.
	Keys auth.Keyring
	// Explain receives the error of a request and its entity. Default: none.
	Explain func(r *http.Request, what, entity string, err error)
	// Next serves the requests that are not of this interface. It is required.
	Next http.Handler
}

type handler struct{ config Config }

// New returns what serves the interface, and all else by another.
func New(config Config) http.Handler { return &handler{config} }

// A call is a request of the interface.
type call struct {
	broker *broker.Broker
	w      http.ResponseWriter
	r      *http.Request
	path   string // of the entity
	id     string // of a locked message, or its sequence number
	token  amqp.UUID
}

// An operation carries a request out, or returns why not.
type operation struct {
	kind  fault.Operation // which faults befall it
	needs auth.Rights
	carry func(*call) error
}

// ServeHTTP answers the requests of this interface and passes on others.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{broker: h.config.Broker, w: w, r: r}
	op := c.route()
	if op.carry == nil {
		h.config.Next.ServeHTTP(w, r)
		return
	}
	err := h.config.Keys.Request(r, op.needs, fmt.Sprintf(
		"'%v' claim(s) are required to perform this operation, on the resource 'sb://%s/%s'", op.needs, r.Host, c.path,
	))
	if err == nil {
		err = c.guard(op.kind)
	}
	if err == nil {
		err = op.carry(c)
	}
	if err != nil {
		if h.config.Explain != nil {
			h.config.Explain(r, "a request over REST", c.path, err)
		}
		c.refuse(err)
	}
}

// route parses a request. Names of entities may contain slashes, so it parses the path from the end.
func (c *call) route() operation {
	path := strings.Trim(c.r.URL.EscapedPath(), "/")
	if strings.HasPrefix(strings.ToLower(path), "api/") && !c.r.URL.Query().Has("api-version") {
		return operation{} // of the administration
	}
	rest, last := cutLast(path)
	if strings.EqualFold(last, "messages") && c.found(rest, "") {
		return map[string]operation{http.MethodPost: {fault.OpSend, auth.Send, (*call).send}}[c.r.Method]
	}
	rest, id := cutLast(rest)
	if strings.EqualFold(id, "messages") && strings.EqualFold(last, "head") && c.found(rest, "") {
		return map[string]operation{
			http.MethodDelete: {fault.OpReceive, auth.Listen, (*call).receiveAndDelete},
			http.MethodPost:   {fault.OpReceive, auth.Listen, (*call).receiveAndLock},
		}[c.r.Method]
	}
	rest, messages := cutLast(rest)
	token, isToken := parseToken(last)
	if isToken && strings.EqualFold(messages, "messages") && c.found(rest, id) {
		c.token = token
		return map[string]operation{
			http.MethodDelete: {fault.OpSettle, auth.Listen, (*call).complete},
			http.MethodPut:    {fault.OpSettle, auth.Listen, (*call).unlock},
			http.MethodPost:   {fault.OpManage, auth.Listen, (*call).renew},
		}[c.r.Method]
	}
	return operation{}
}

// found takes the escaped path of an entity and the id of a message, and reports whether there is the former.
func (c *call) found(path, id string) bool {
	var pathErr, idErr error
	c.path, pathErr = url.PathUnescape(path)
	c.id, idErr = url.PathUnescape(id)
	return c.path != "" && pathErr == nil && idErr == nil
}

// cutLast splits a path at its last slash. Without one, all is the last part.
func cutLast(path string) (before, last string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}

// parseToken reads the token of a lock.
func parseToken(text string) (amqp.UUID, bool) {
	token, err := amqp.ParseUUID(text)
	return token, err == nil && strings.EqualFold(token.String(), text)
}

// guard waits and fails as has been ordered.
func (c *call) guard(kind fault.Operation) error {
	befallen, ok := c.broker.Faults().Take(c.path, kind)
	if !ok {
		return nil
	}
	select {
	case <-time.After(befallen.Delay):
	case <-c.r.Context().Done():
	}
	if befallen.Drop {
		panic(http.ErrAbortHandler) // net/http cuts the connection
	}
	return befallen.Err()
}

// A badRequest is a problem of a request.
type badRequest string

func (b badRequest) Error() string { return string(b) }

// statuses are the HTTP statuses of conditions, as the documents of the operations have them.
var statuses = map[amqp.Symbol]int{
	broker.NotFound:              http.StatusGone,
	broker.MessageLockLost:       http.StatusNotFound,
	broker.MessageNotFound:       http.StatusNotFound,
	broker.MessageSizeExceeded:   http.StatusForbidden,
	broker.ResourceLimitExceeded: http.StatusForbidden,
	broker.EntityDisabled:        http.StatusForbidden,
	broker.ServerBusy:            http.StatusServiceUnavailable,
	broker.Timeout:               http.StatusRequestTimeout,
	broker.InternalError:         http.StatusInternalServerError,
}

func statusOf(err error) int {
	if errors.Is(err, auth.ErrDenied) {
		return http.StatusUnauthorized
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusForbidden
	}
	if status, ok := statuses[broker.Condition(err)]; ok {
		return status
	}
	return http.StatusBadRequest
}

// refuse answers with an error in the form of Service Bus.
func (c *call) refuse(err error) {
	detail := err.Error()
	if e, ok := errors.AsType[*amqp.Error](err); ok {
		detail = e.Description
	}
	status := statusOf(err)
	c.w.Header().Set("Content-Type", contentType)
	c.w.WriteHeader(status)
	_ = xml.NewEncoder(c.w).Encode(struct { // the client may have disconnected
		XMLName xml.Name `xml:"Error"`
		Code    int      `xml:"Code"`
		Detail  string   `xml:"Detail"`
	}{Code: status, Detail: fmt.Sprintf("%s TrackingId:%s_G0, SystemTracker:%s:%s, Timestamp:%s",
		detail, rand.Text(), c.r.Host, c.path, time.Now().UTC().Format("2006-01-02T15:04:05"))})
}
