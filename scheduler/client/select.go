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
	Prefix     string          // of their names
	Action     string          // its type, such as Http; "": of any
	NextAfter  string          // the next run is then or later: an instant (RFC 3339), or a length of time from now on; "": whenever
	NextBefore string          // and before that
}

// options are what a list is asked for.
func (q *Query) options() url.Values {
	filter := ""
	if q.State != "" {
		filter = "state eq " + string(q.State)
	}
	options := url.Values{}
	for name, value := range map[string]string{
		"$filter": filter, "labelSelector": q.Labels, "prefix": q.Prefix, "actionType": q.Action,
		"nextAfter": q.NextAfter, "nextBefore": q.NextBefore,
	} {
		if value != "" {
			options.Set(name, value)
		}
	}
	return options
}

// Select returns jobs, by collection and name.
func (c *Client) Select(ctx context.Context, q Query) ([]*Job, error) {
	if q.Collection != "" {
		return c.selectIn(ctx, q)
	}
	jobs, err := all[*Job](ctx, c, "/jobs", q.options(), 0)
	if !errors.Is(err, scheduler.ErrNotFound) {
		return jobs, err
	}
	return c.selectInEach(ctx, q) // an earlier version has no list of all
}

func (c *Client) selectInEach(ctx context.Context, q Query) ([]*Job, error) {
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
	return all[*Job](ctx, c, "/jobCollections/"+url.PathEscape(q.Collection)+"/jobs", q.options(), 0)
}
