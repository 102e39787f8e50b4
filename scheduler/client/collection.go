package client

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// Collection is a collection as the API returns it.
type Collection struct {
	Name     string
	State    scheduler.State
	Quota    Quota
	Tags     map[string]string
	Document json.RawMessage // the complete answer

	Result v1.Result // of a put
}

// Quota limits the jobs of a collection.
type Quota struct {
	MaxJobCount   int `json:"maxJobCount"` // 0: no limit
	MaxRecurrence *struct {
		Frequency string `json:"frequency"`
		Interval  int    `json:"interval"` // 0: 1
	} `json:"maxRecurrence"` // nil: no limit
}

// UnmarshalJSON decodes a collection document.
func (c *Collection) UnmarshalJSON(data []byte) error {
	var doc struct {
		Name       string            `json:"name"`
		Tags       map[string]string `json:"tags"`
		Result     v1.Result         `json:"result"`
		Properties struct {
			State scheduler.State `json:"state"`
			Quota Quota           `json:"quota"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return err
	}
	*c = Collection{doc.Name, doc.Properties.State, doc.Properties.Quota, doc.Tags, bytes.Clone(data), doc.Result}
	return nil
}

func collectionPath(name string) string { return "/jobCollections/" + url.PathEscape(name) }

// PutCollection creates a collection or replaces its settings, as its Result reports. With dryRun, the scheduler checks
// the request and stores nothing.
func (c *Client) PutCollection(ctx context.Context, name string, body []byte, dryRun bool) (*Collection, error) {
	return ask[Collection](ctx, c, http.MethodPut, collectionPath(name)+PutOptions{DryRun: dryRun}.query(), body)
}

// CreateCollection creates a collection. It returns ErrConflict if the collection exists.
func (c *Client) CreateCollection(ctx context.Context, name string, body []byte) (*Collection, error) {
	return ask[Collection](ctx, c, http.MethodPut, collectionPath(name), body, PutOptions{OnlyNew: true}.headers()...)
}

// Collection returns a collection.
func (c *Client) Collection(ctx context.Context, name string) (*Collection, error) {
	return ask[Collection](ctx, c, http.MethodGet, collectionPath(name), nil)
}

// Collections returns all collections by name.
func (c *Client) Collections(ctx context.Context) ([]*Collection, error) {
	return list[*Collection](ctx, c, "/jobCollections")
}

// EnableCollection resumes the jobs of a collection.
func (c *Client) EnableCollection(ctx context.Context, name string) error {
	return c.do(ctx, http.MethodPost, collectionPath(name)+"/enable")
}

// DisableCollection stops the jobs of a collection until it is enabled.
func (c *Client) DisableCollection(ctx context.Context, name string) error {
	return c.do(ctx, http.MethodPost, collectionPath(name)+"/disable")
}

// DeleteCollection deletes a collection. Without withJobs, it refuses a collection that has jobs; with it, the jobs and
// their histories are deleted, too.
func (c *Client) DeleteCollection(ctx context.Context, name string, withJobs bool) error {
	path := collectionPath(name)
	if !withJobs {
		path += "?onlyEmpty=true"
	}
	return c.do(ctx, http.MethodDelete, path)
}
