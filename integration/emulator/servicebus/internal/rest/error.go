package rest

import (
	"crypto/rand"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/auth"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// A badRequest says what is wrong with a request.
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
	_ = xml.NewEncoder(c.w).Encode(struct { // the client may be gone
		XMLName xml.Name `xml:"Error"`
		Code    int      `xml:"Code"`
		Detail  string   `xml:"Detail"`
	}{Code: status, Detail: fmt.Sprintf("%s TrackingId:%s_G0, SystemTracker:%s:%s, Timestamp:%s",
		detail, rand.Text(), c.r.Host, c.path, time.Now().UTC().Format("2006-01-02T15:04:05"))})
}
