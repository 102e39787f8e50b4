package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// NATSConfig configures a client of the micro service. Conn is required.
type NATSConfig struct {
	// Conn is the connection. The caller closes it.
	Conn *nats.Conn

	// Prefix is the prefix of the subjects, as in the scheduler's --prefix. Default: "carillon".
	Prefix string
}

// natsBase is the base of paths for a transport that ignores the host.
const natsBase = "http://nats.invalid"

// NewNATS returns a client of the micro service. It does no I/O. Operations that the service lacks return an
// [UnsupportedError].
func NewNATS(cfg NATSConfig) *Client {
	cfg.Prefix = cmp.Or(cfg.Prefix, "carillon")
	server := "NATS"
	if u, err := url.Parse(cfg.Conn.ConnectedUrl()); err == nil && u.Host != "" {
		u.User = nil // it may hold a password or a token
		server = u.String()
	}
	over := func(timeout time.Duration) http.RoundTripper { return &natsTransport{cfg, timeout} }
	return &Client{
		server: server, base: natsBase, http: &http.Client{Transport: over(answerTimeout)},
		lasting: func() (http.RoundTripper, func()) { return over(0), func() {} },
	}
}

// natsTransport sends requests of the REST API to the micro service.
type natsTransport struct {
	cfg     NATSConfig
	timeout time.Duration // until the answer arrives; 0: the context decides
}

// RoundTrip sends a request to the micro service.
func (t *natsTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	ctx := r.Context()
	if t.timeout > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, t.timeout, errNoAnswer)
		defer cancel()
		ctx = limited
	}
	if topic, ok := topicOf(r); ok {
		return t.publish(ctx, r, topic)
	}
	m, err := t.message(r)
	if err != nil {
		return nil, err
	}
	if r.URL.Query().Has("follow") {
		return t.tail(r, m)
	}
	ctx, stop := unlessDenied(ctx, t.cfg.Conn, m.Subject)
	defer stop()
	answer, err := t.cfg.Conn.RequestMsgWithContext(ctx, m)
	if err != nil {
		return nil, natsFailure(ctx, err)
	}
	return response(r, answer, io.NopCloser(bytes.NewReader(answer.Data))), nil
}

// message converts a request to a message of the micro service.
func (t *natsTransport) message(r *http.Request) (*nats.Msg, error) {
	o, ok := requestOf(r.Method, r.URL.Path)
	if !ok {
		return nil, &UnsupportedError{r.Method + " " + r.URL.Path}
	}
	q := r.URL.Query()
	o.follow(q)
	o.scope(q)
	for i, name := range o.names {
		if name == "" || strings.ContainsAny(name, " \t\r\n*>") {
			return nil, scheduler.ValidateName(o.kinds[i], name)
		}
	}
	m := nats.NewMsg(strings.Join(append([]string{t.cfg.Prefix, "api", o.verb}, o.names...), "."))
	for name, own := range conditionHeaders {
		if values := r.Header.Values(name); len(values) > 0 {
			m.Header[own] = values
		}
	}
	if err := o.ask(m, q); err != nil || m.Data != nil || r.Body == nil {
		return m, err
	}
	var err error
	m.Data, err = io.ReadAll(r.Body)
	return m, err
}

// conditionHeaders map the headers of conditions to their names over NATS.
var conditionHeaders = map[string]string{
	scheduler.IfMatch:     "Carillon-If-Match",
	scheduler.IfNoneMatch: "Carillon-If-None-Match",
}

// statusHeader has the status of an answer.
const statusHeader = "Carillon-Status"

// response converts a message to an answer of the REST API.
func response(r *http.Request, m *nats.Msg, body io.ReadCloser) *http.Response {
	status, err := strconv.Atoi(m.Header.Get(statusHeader))
	if err != nil {
		status = http.StatusBadGateway // the answer is not from the micro service
	}
	header := http.Header{}
	for name, values := range m.Header {
		header[http.CanonicalHeaderKey(name)] = values
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header, Body: body, ContentLength: -1, Request: r,
	}
}

// Causes of a missing answer.
var (
	errNoAnswer = fmt.Errorf("it did not answer within %s", answerTimeout)
	errNobody   = errors.New("no scheduler responds; check that one is running with this prefix")
)

// natsFailure explains a missing answer.
func natsFailure(ctx context.Context, err error) error {
	denied, ok := errors.AsType[*Error](context.Cause(ctx))
	switch {
	case ok:
		return denied
	case errors.Is(err, nats.ErrNoResponders):
		return errNobody
	case errors.Is(context.Cause(ctx), errNoAnswer):
		return errNoAnswer
	}
	return err
}

// UnsupportedError reports an operation that the REST API has and the micro service lacks. It matches
// [errors.ErrUnsupported].
type UnsupportedError struct{ Request string }

// Error names the request.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s: the micro service on NATS has no such operation, the REST API has", e.Request)
}

// Is matches errors.ErrUnsupported.
func (*UnsupportedError) Is(target error) bool { return target == errors.ErrUnsupported }

// topicOf returns the topic of a request to publish an event.
func topicOf(r *http.Request) (t scheduler.Topic, ok bool) {
	parts := strings.Split(r.URL.Path, "/")
	if r.Method != http.MethodPost || len(parts) != 5 || parts[1] != "jobCollections" || parts[3] != "events" {
		return t, false
	}
	return scheduler.Topic{Collection: parts[2], Name: parts[4]}, true
}

// publish sends an event to its stream, as any NATS client does. It needs no scheduler.
func (t *natsTransport) publish(ctx context.Context, r *http.Request, topic scheduler.Topic) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	m := nats.NewMsg(t.cfg.Prefix + ".event." + topic.String())
	m.Data = body
	maps.Copy(m.Header, scheduler.EventHeaders(r.Header))
	if id := m.Header.Get(messageID); id != "" {
		m.Header.Set(messageID, topic.MessageID(id)) // as the REST API does
	}
	_, err = scheduler.NewEvent(topic, m.Header, m.Data)
	if err := errors.Join(topic.Validate(), err); err != nil {
		return answered(r, 0, nil, err), nil
	}
	ctx, stop := unlessDenied(ctx, t.cfg.Conn, m.Subject)
	defer stop()
	reply, err := t.cfg.Conn.RequestMsgWithContext(ctx, m)
	if err != nil {
		return nil, natsFailure(ctx, err)
	}
	var ack struct {
		Sequence  uint64 `json:"seq"`
		Duplicate bool   `json:"duplicate"`
		Error     struct {
			Description string `json:"description"`
		} `json:"error"`
	}
	switch err := json.Unmarshal(reply.Data, &ack); {
	case err != nil, ack.Sequence == 0 && ack.Error.Description == "":
		return nil, errors.Join(errors.New("the answer is not from a stream of events"), err)
	case ack.Sequence == 0:
		return answered(r, 0, nil, fmt.Errorf("event %s: %w: %s", topic, scheduler.ErrUnavailable, ack.Error.Description)), nil
	}
	return answered(r, http.StatusAccepted, v1.PublishedEvent{
		Collection: topic.Collection, Name: topic.Name, Sequence: ack.Sequence, Duplicate: ack.Duplicate,
	}, nil), nil
}

// answered returns the answer that the REST API gives: a document, or an error.
func answered(r *http.Request, status int, document any, err error) *http.Response {
	if err != nil {
		d := v1.DescribeError(err)
		status, document = d.Status, d.Document()
	}
	m := nats.NewMsg("")
	m.Header.Set(statusHeader, strconv.Itoa(status))
	return response(r, m, io.NopCloser(bytes.NewReader(v1.JSON(document))))
}
