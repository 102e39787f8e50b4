package client

import (
	"context"
	"errors"
	"net/http"

	"github.com/carillon-sched/carillon/scheduler"
)

// EchoPath is the path of the optional echo endpoint, which returns the request.
const EchoPath = "/echo"

// HasEcho reports whether the server has an endpoint at [EchoPath].
func (c *Client) HasEcho(ctx context.Context) (bool, error) {
	resp, err := c.send(ctx, http.MethodHead, EchoPath, nil)
	if errors.Is(err, scheduler.ErrNotFound) || errors.Is(err, errors.ErrUnsupported) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, resp.Body.Close()
}
