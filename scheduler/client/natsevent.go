package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

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
	for name, values := range r.Header {
		switch lower := strings.ToLower(name); {
		case lower == contentType, strings.HasPrefix(lower, "ce-"):
			m.Header[lower] = values[:1]
		case strings.EqualFold(name, messageID) && values[0] != "":
			m.Header[messageID] = []string{topic.MessageID(values[0])} // as the REST API does
		}
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
