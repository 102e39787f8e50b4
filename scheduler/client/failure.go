package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// Activity returns what all schedulers do now, with counts of the last hour. It needs the role reader on all
// collections.
func (c *Client) Activity(ctx context.Context) (*v1.Activity, error) {
	return ask[v1.Activity](ctx, c, http.MethodGet, "/activity", nil)
}

// Failures returns the groups of failed attempts, open ones first. With a collection, it counts only the jobs of it.
func (c *Client) Failures(ctx context.Context, collection string) ([]*v1.FailureGroup, error) {
	return list[*v1.FailureGroup](ctx, c, "/failures"+inCollection(collection))
}

// Failure returns a group of failed attempts with the selection of its jobs. A caller with rights on a single collection
// must name this collection. Other callers may pass "".
func (c *Client) Failure(ctx context.Context, id, collection string) (*v1.FailureGroup, error) {
	return ask[v1.FailureGroup](ctx, c, http.MethodGet, failurePath(id)+inCollection(collection), nil)
}

// AcknowledgeFailure states that the caller handles a group, with a note or "". collection is as for [Client.Failure].
func (c *Client) AcknowledgeFailure(ctx context.Context, id, collection, note string) (*v1.FailureGroup, error) {
	return send[v1.FailureGroup](ctx, c, failurePath(id)+"/ack"+inCollection(collection), v1.AcknowledgeRequest{Note: note})
}

// MuteFailure mutes a group until a time, such as 2h. collection is as for [Client.Failure].
func (c *Client) MuteFailure(ctx context.Context, id, collection, until string) (*v1.FailureGroup, error) {
	return send[v1.FailureGroup](ctx, c, failurePath(id)+"/mute"+inCollection(collection), v1.MuteRequest{Until: until})
}

// ReopenFailure removes the acknowledgment of a group, and unmutes it. collection is as for [Client.Failure].
func (c *Client) ReopenFailure(ctx context.Context, id, collection string) (*v1.FailureGroup, error) {
	return send[v1.FailureGroup](ctx, c, failurePath(id)+"/reopen"+inCollection(collection), nil)
}

func failurePath(id string) string { return "/failures/" + url.PathEscape(id) }
