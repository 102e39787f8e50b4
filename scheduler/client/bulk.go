package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// CreateOperation starts an operation on many jobs.
func (c *Client) CreateOperation(ctx context.Context, req v1.OperationRequest) (*v1.Operation, error) {
	return send[v1.Operation](ctx, c, "/operations"+inCollection(req.Collection), req)
}

// Operations returns the operations of the last 7 days, newest first. With a collection, it returns only operations on its
// jobs.
func (c *Client) Operations(ctx context.Context, collection string) ([]*v1.Operation, error) {
	return list[*v1.Operation](ctx, c, "/operations"+inCollection(collection))
}

// Operation returns an operation. A caller with rights on a single collection must name this collection; all jobs of the
// operation are in it. Other callers may pass "".
func (c *Client) Operation(ctx context.Context, id, collection string) (*v1.Operation, error) {
	return ask[v1.Operation](ctx, c, http.MethodGet, "/operations/"+url.PathEscape(id)+inCollection(collection), nil)
}

// CancelOperation stops an operation between jobs. collection is as for [Client.Operation].
func (c *Client) CancelOperation(ctx context.Context, id, collection string) (*v1.Operation, error) {
	return send[v1.Operation](ctx, c, "/operations/"+url.PathEscape(id)+"/cancel"+inCollection(collection), nil)
}

func inCollection(name string) string {
	if name == "" {
		return ""
	}
	return "?collection=" + url.QueryEscape(name)
}
