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
	Key         scheduler.Key
	Type        source.Type
	State       scheduler.State
	Description string
	Status      source.Status
	Damage      string          // why the stored source cannot be read; "": it can
	Document    json.RawMessage // the complete answer

	Result v1.Result // of a put
}

// UnmarshalJSON decodes a source document.
func (s *Source) UnmarshalJSON(data []byte) error {
	var doc struct {
		Name       string    `json:"name"`
		Collection string    `json:"collection"`
		Result     v1.Result `json:"result"`
		Properties struct {
			Type        source.Type     `json:"type"`
			State       scheduler.State `json:"state"`
			Description string          `json:"description"`
			Status      struct {
				source.Status

				Damage string `json:"damage"`
			} `json:"status"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return err
	}
	p := &doc.Properties
	*s = Source{
		scheduler.Key{Collection: doc.Collection, Job: doc.Name},
		p.Type, p.State, p.Description,
		p.Status.Status, p.Status.Damage, bytes.Clone(data), doc.Result,
	}
	return nil
}

func sourcePath(k scheduler.Key) string {
	return collectionPath(k.Collection) + "/sources/" + url.PathEscape(k.Job)
}

// PutSource creates a source of events or replaces its settings, as its Result reports. Only the conditions of o apply.
func (c *Client) PutSource(ctx context.Context, k scheduler.Key, body []byte, o PutOptions) (*Source, error) {
	return ask[Source](ctx, c, http.MethodPut, sourcePath(k), body, o.headers()...)
}

// PatchSource merges a document into a source.
func (c *Client) PatchSource(ctx context.Context, k scheduler.Key, body []byte) (*Source, error) {
	return ask[Source](ctx, c, http.MethodPatch, sourcePath(k), body)
}

// Source returns a source.
func (c *Client) Source(ctx context.Context, k scheduler.Key) (*Source, error) {
	return ask[Source](ctx, c, http.MethodGet, sourcePath(k), nil)
}

// Sources returns the sources of a collection ("": of all), by collection and name.
func (c *Client) Sources(ctx context.Context, collection string) ([]*Source, error) {
	if collection == "" {
		return list[*Source](ctx, c, "/sources")
	}
	return list[*Source](ctx, c, collectionPath(collection)+"/sources")
}

// DeleteSource deletes a source. Its stored events stay.
func (c *Client) DeleteSource(ctx context.Context, k scheduler.Key) error {
	return c.do(ctx, http.MethodDelete, sourcePath(k))
}
