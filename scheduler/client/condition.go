package client

import (
	"context"
	"net/http"

	"github.com/carillon-sched/carillon/scheduler"
)

// PatchIf is [Client.Patch] of a job that has the ETag still: ErrPrecondition when it was changed meanwhile.
func (c *Client) PatchIf(ctx context.Context, k scheduler.Key, etag string, body []byte) (*Job, error) {
	j := &Job{}
	_, err := c.call(ctx, http.MethodPatch, jobPath(k), body, j, scheduler.IfMatch+": "+etag)
	return j, err
}

// PutIf is [Client.Put] over a job that has the ETag still, whatever it is: ErrPrecondition when it was changed meanwhile,
// or is not there.
func (c *Client) PutIf(ctx context.Context, k scheduler.Key, etag string, body []byte, o PutOptions) (*Job, error) {
	j := &Job{}
	_, err := c.call(ctx, http.MethodPut, jobPath(k)+o.query(), body, j, scheduler.IfMatch+": "+etag)
	return j, err
}
