package client

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/source"
)

// Source is a source of events as the API returns it.
type Source struct {
	Name       string    `json:"name"`
	Collection string    `json:"collection"`
	ETag       string    `json:"etag"`
	Result     v1.Result `json:"result"` // of a put
	Properties struct {
		Type   source.Type     `json:"type"`
		State  scheduler.State `json:"state"`
		Status struct {
			source.Status

			Damage string `json:"damage"` // why the stored source cannot be read; "": it can
		} `json:"status"`
	} `json:"properties"`
	Document json.RawMessage `json:"-"` // the complete answer
}

// Key returns the collection and name.
func (s *Source) Key() scheduler.Key { return scheduler.Key{Collection: s.Collection, Job: s.Name} }

// UnmarshalJSON decodes a source document.
func (s *Source) UnmarshalJSON(data []byte) error {
	type plain Source
	s.Document = bytes.Clone(data)
	return json.Unmarshal(data, (*plain)(s))
}

func sourcePath(k scheduler.Key) string {
	return collectionPath(k.Collection) + "/sources/" + url.PathEscape(k.Job)
}

// PutSource creates a source of events or replaces its settings, as its Result reports. Only the conditions of o apply.
func (c *Client) PutSource(ctx context.Context, k scheduler.Key, body []byte, o PutOptions) (*Source, error) {
	return ask[Source](ctx, c, http.MethodPut, sourcePath(k), body, o.headers()...)
}

// PatchSource merges a document into a source. Only the conditions of o apply.
func (c *Client) PatchSource(ctx context.Context, k scheduler.Key, body []byte, o PutOptions) (*Source, error) {
	return ask[Source](ctx, c, http.MethodPatch, sourcePath(k), body, o.headers()...)
}

// Source returns a source.
func (c *Client) Source(ctx context.Context, k scheduler.Key) (*Source, error) {
	return ask[Source](ctx, c, http.MethodGet, sourcePath(k), nil)
}

// Sources returns the sources of a collection ("": of all), by collection and name.
func (c *Client) Sources(ctx context.Context, collection string) ([]*Source, error) {
	return list[*Source](ctx, c, pathOf(scheduler.Key{Collection: collection}, "/sources"))
}

// DeleteSource deletes a source. Its stored events stay.
func (c *Client) DeleteSource(ctx context.Context, k scheduler.Key) error {
	return c.do(ctx, http.MethodDelete, sourcePath(k))
}
