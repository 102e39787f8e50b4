package admin

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-sched/carillon/integration/emulator/internal/exposition"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/auth"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// Config configures the administration interfaces.
type Config struct {
	// Broker has the entities. It is required.
	Broker *broker.Broker
	// Keys checks tokens. Unless it is strict, requests need none.
	Keys auth.Keyring
	// Connections counts the connections of clients. Required.
	Connections Connections
	// Metrics are served at /metrics, together with the broker's. Required.
	Metrics *exposition.Metrics
	// Explain receives the error of a request and its path. Default: none.
	Explain func(r *http.Request, what, path string, err error)
}

// Connections can be counted and cut.
type Connections interface {
	Connections() int
	Drop() int
}

// maxBody limits the body of a request.
const maxBody = 1 << 20

// handler serves the interfaces.
type handler struct {
	Config

	started time.Time
	api     http.Handler
}

// New returns what serves the interfaces.
func New(config Config) http.Handler {
	if config.Explain == nil {
		config.Explain = func(*http.Request, string, string, error) {}
	}
	h := &handler{Config: config, started: time.Now()}
	h.api = h.newAPI()
	config.Metrics.Collect(h.collect)
	return h
}

// ServeHTTP routes a request to one of the interfaces.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	path := strings.Trim(r.URL.Path, "/")
	if !r.URL.Query().Has("api-version") {
		switch {
		case path == "health":
			h.health(w)
			return
		case path == "metrics":
			h.Metrics.ServeHTTP(w, r)
			return
		case path == "api" || strings.HasPrefix(path, "api/"):
			h.serveAPI(w, r)
			return
		}
	}
	if err := h.authorize(r); err != nil {
		writeError(w, http.StatusUnauthorized, err.Error())
		return
	}
	h.serveATOM(w, r, path)
}

// administering is what requests are called where they are explained.
const administering = "a request of administration"

// authorize checks the token of a request, and explains a refusal.
func (h *handler) authorize(r *http.Request) error {
	err := h.Keys.Request(r, auth.Manage, "Manage claim is required for this operation")
	if err != nil {
		h.Explain(r, administering, strings.Trim(r.URL.Path, "/"), err)
	}
	return err
}

func (*handler) health(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"status":"healthy","message":"Service is healthy."}` + "\n"))
}

// statuses are the HTTP statuses of conditions.
var statuses = map[string]int{
	string(broker.NotFound):              http.StatusNotFound,
	string(broker.RuleNotFound):          http.StatusNotFound,
	string(broker.MessageNotFound):       http.StatusNotFound,
	string(broker.EntityExists):          http.StatusConflict,
	string(broker.ArgumentError):         http.StatusBadRequest,
	string(broker.InvalidField):          http.StatusBadRequest,
	string(broker.NotAllowed):            http.StatusBadRequest,
	string(broker.EntityDisabled):        http.StatusForbidden,
	string(broker.ResourceLimitExceeded): http.StatusForbidden,
	string(broker.ServerBusy):            http.StatusServiceUnavailable,
}

// errBadRequest is wrapped by errors that are the client's.
var errBadRequest = errors.New("bad request")

// A badBody is a problem of a request's body.
type badBody string

func (b badBody) Error() string { return string(b) }

// Unwrap makes it one of errBadRequest.
func (badBody) Unwrap() error { return errBadRequest }

func statusOf(err error) int {
	switch {
	case errors.Is(err, errBadRequest):
		return http.StatusBadRequest
	case errors.Is(err, context.Canceled): // the client has disconnected, or stopped sending
		return http.StatusRequestTimeout
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge
	}
	if status, ok := statuses[string(broker.Condition(err))]; ok {
		return status
	}
	return http.StatusInternalServerError
}

// MetricPrefix is the prefix of all metrics.
const MetricPrefix = "carillon_emulator_servicebus_"

var (
	messagesMetric = exposition.Gauge(MetricPrefix+"messages", "Messages in an entity, by state. Active are locked ones too.",
		"entity", "state")
	sizeMetric        = exposition.Gauge(MetricPrefix+"size_bytes", "Bytes of all messages in an entity.", "entity")
	receiversMetric   = exposition.Gauge(MetricPrefix+"receivers", "Open receivers of an entity.", "entity")
	connectionsMetric = exposition.Gauge(MetricPrefix+"connections", "Open connections of AMQP.")
)

// collect reports entities, connections and operations.
func (h *handler) collect(to chan<- prometheus.Metric) {
	for _, info := range h.Broker.Entities() {
		collectUsage(to, info.Path, info.Usage)
	}
	to <- connectionsMetric(float64(h.Connections.Connections()))
	h.Broker.Operations().Collect(to)
}

// collectUsage reports the content and the receivers of an entity.
func collectUsage(to chan<- prometheus.Metric, path string, u broker.Usage) {
	for _, count := range []struct {
		state string
		n     int64
	}{
		{"active", u.Active},
		{"dead_letter", u.DeadLetter},
		{"scheduled", u.Scheduled},
		{"transfer", u.Transfer},
		{"transfer_dead_letter", u.TransferDeadLetter},
	} {
		to <- messagesMetric(float64(count.n), path, count.state)
	}
	to <- sizeMetric(float64(u.Size), path)
	to <- receiversMetric(float64(u.Receivers), path)
}
