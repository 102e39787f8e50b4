package client

import (
	"context"
	"errors"
	"net/url"

	"github.com/carillon-sched/carillon/scheduler"
)

// Query says which jobs are wanted.
type Query struct {
	Collection string          // "": of all collections
	State      scheduler.State // "": in any
	Labels     string          // [scheduler.ParseSelector]; "": with whatever labels
}

// Select returns jobs, by collection and name.
func (c *Client) Select(ctx context.Context, q Query) ([]*Job, error) {
	if q.Collection != "" {
		return c.selectIn(ctx, q)
	}
	collections, err := c.Collections(ctx)
	if err != nil {
		return nil, err
	}
	var jobs []*Job
	for _, one := range collections {
		q.Collection = one.Name
		found, err := c.selectIn(ctx, q)
		if errors.Is(err, scheduler.ErrNotFound) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, found...)
	}
	return jobs, nil
}

func (c *Client) selectIn(ctx context.Context, q Query) ([]*Job, error) {
	parameters := url.Values{}
	if q.State != "" {
		parameters.Set("$filter", "state eq "+string(q.State))
	}
	if q.Labels != "" {
		parameters.Set("labelSelector", q.Labels)
	}
	return all[*Job](ctx, c, "/jobCollections/"+url.PathEscape(q.Collection)+"/jobs", parameters, 0)
}
