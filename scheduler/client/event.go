package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// EventQuery selects events.
type EventQuery struct {
	Collection string    // "": all collections
	Name       string    // "": any
	Since      time.Time // inclusive
}

// Events returns events, newest first. It fetches pages of up to size events on demand (0: the maximum) and ends with
// the first error.
func (c *Client) Events(ctx context.Context, q EventQuery, size int) iter.Seq2[*v1.Event, error] {
	v := url.Values{}
	if q.Name != "" {
		v.Set("name", q.Name)
	}
	if !q.Since.IsZero() {
		v.Set("since", q.Since.Format(time.RFC3339Nano))
	}
	return pages[*v1.Event](ctx, c, pathOf(scheduler.Key{Collection: q.Collection}, "/events"), v, size)
}

// Event returns the event with a sequence. With a collection, a role on that collection is sufficient; "": any.
func (c *Client) Event(ctx context.Context, sequence uint64, collection string) (*v1.Event, error) {
	return ask[v1.Event](ctx, c, http.MethodGet, "/events/"+strconv.FormatUint(sequence, 10)+inCollection(collection), nil)
}

// NewEvent is an event to be published.
type NewEvent struct {
	Topic      scheduler.Topic
	ID         string            // stored once within two minutes; "": always stored
	Attributes map[string]string // such as type, source and content-type
	Body       []byte
}

func (e *NewEvent) headers() http.Header {
	all := http.Header{}
	for name, value := range e.Attributes {
		name = strings.TrimPrefix(strings.ToLower(name), "ce-")
		if name != contentType {
			name = "ce-" + name
		}
		all.Set(name, value)
	}
	if kind := "application/octet-stream"; all.Get(contentType) == "" {
		if json.Valid(e.Body) {
			kind = "application/json"
		}
		all.Set(contentType, kind)
	}
	if e.ID != "" {
		all.Set(messageID, e.ID)
	}
	return all
}

// The headers of an event that are not attributes of a CloudEvent.
const (
	contentType = "content-type"
	messageID   = "Nats-Msg-Id"
)

// PublishEvent publishes an event. It returns when the event is stored.
func (c *Client) PublishEvent(ctx context.Context, e NewEvent) (*v1.PublishedEvent, error) {
	var headers []string
	for name, values := range e.headers() {
		headers = append(headers, name+": "+values[0])
	}
	path := collectionPath(e.Topic.Collection) + "/events/" + url.PathEscape(e.Topic.Name)
	return ask[v1.PublishedEvent](ctx, c, http.MethodPost, path, e.Body, headers...)
}

// TestEvent returns the effect that an event would have on a job now, and stores nothing. The default name is the first
// event that the job listens to.
func (c *Client) TestEvent(ctx context.Context, k scheduler.Key, name string, e NewEvent) (*v1.TestedEvent, error) {
	read, err := scheduler.NewEvent(e.Topic, e.headers(), e.Body)
	if err != nil {
		return nil, err
	}
	req := v1.TestEventRequest{Event: name, ID: read.ID, Attributes: read.Attributes}
	if read.Data != nil {
		if req.Data, err = document.Parse(read.Data); err != nil {
			return nil, fmt.Errorf("data: %w", err)
		}
	}
	return send[v1.TestedEvent](ctx, c, jobPath(k)+"/try-event", req)
}

// TestStoredEvent is [Client.TestEvent] for the stored event with a sequence.
func (c *Client) TestStoredEvent(ctx context.Context, k scheduler.Key, sequence uint64) (*v1.TestedEvent, error) {
	return send[v1.TestedEvent](ctx, c, jobPath(k)+"/try-event", v1.TestEventRequest{Sequence: sequence})
}

// ReplayEvent starts a run of a job with a stored event, if the job's trigger matches the event. at is the time of the
// request: a repeated request with the same time starts one run. With dryRun, nothing starts.
func (c *Client) ReplayEvent(
	ctx context.Context, k scheduler.Key, sequence uint64, at time.Time, dryRun bool,
) (*v1.ReplayedEvent, error) {
	path := jobPath(k) + "/replay" + PutOptions{DryRun: dryRun}.query()
	return send[v1.ReplayedEvent](ctx, c, path, v1.ReplayEventRequest{Sequence: sequence, At: at})
}

// Graph returns the events and jobs that start the jobs of a collection; "": of all.
func (c *Client) Graph(ctx context.Context, collection string) (*v1.Graph, error) {
	return ask[v1.Graph](ctx, c, http.MethodGet, "/graph"+inCollection(collection), nil)
}
