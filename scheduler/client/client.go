package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// Client calls a scheduler. It is safe for concurrent use.
type Client struct {
	server string // its address, for messages; over REST also the base of all paths
	base   string // base of the paths for the transport
	token  string // "": none
	http   *http.Client

	// lasting returns a transport that waits for an answer as long as the context lasts, and a function that closes it.
	lasting func() (transport http.RoundTripper, done func())
}

// Limits of a request.
const (
	answerTimeout = 30 * time.Second // until the answer begins; a consistency check reads every job
	maxAnswer     = 64 << 20         // bytes
	maxRedirects  = 10
)

// URL returns the server's address without a trailing slash and, for NATS, without a password.
func (c *Client) URL() string { return c.server }

// patient returns a client that waits as long as its contexts last, and a function that closes it.
func (c *Client) patient() (p *Client, done func()) {
	transport, done := c.lasting()
	copied := *c
	copied.http = &http.Client{CheckRedirect: c.http.CheckRedirect, Transport: transport}
	return &copied, done
}

// send makes a request and returns an answer with status 2xx.
func (c *Client) send(ctx context.Context, method, path string, body []byte, headers ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		req.Header.Set(name, value)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, unreachable(ctx, c.server, err)
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	data, err := c.body(ctx, resp)
	if err != nil {
		return nil, err
	}
	return nil, c.refusal(resp, data)
}

// body reads the body of an answer.
func (c *Client) body(ctx context.Context, resp *http.Response) ([]byte, error) {
	defer resp.Body.Close()
	data, err := flow.ReadAll(resp.Body, maxAnswer)
	switch {
	case errors.Is(err, flow.ErrTooLong):
		return nil, &Error{Status: resp.StatusCode, Message: c.server + ": the answer " + err.Error() + "; ask for less"}
	case err != nil:
		return nil, unreachable(ctx, c.server, err)
	}
	return data, nil
}

// call makes a request and decodes its answer into out, unless out is nil. Headers are "Name: value".
func (c *Client) call(ctx context.Context, method, path string, body []byte, out any, headers ...string) (status int, err error) {
	resp, err := c.send(ctx, method, path, body, headers...)
	if err != nil {
		return 0, err
	}
	data, err := c.body(ctx, resp)
	if err != nil || out == nil {
		return resp.StatusCode, err
	}
	if err := json.Unmarshal(data, out); err != nil {
		return 0, &Error{Status: resp.StatusCode, Message: c.server + " does not answer as Carillon does: " + err.Error()}
	}
	return resp.StatusCode, nil
}

// ask makes a request and decodes its answer.
func ask[T any](ctx context.Context, c *Client, method, path string, body []byte, headers ...string) (*T, error) {
	v := new(T)
	_, err := c.call(ctx, method, path, body, v, headers...)
	return v, err
}

// list returns the entries of a list without pages.
func list[T any](ctx context.Context, c *Client, path string) ([]T, error) {
	page, err := ask[v1.List[T]](ctx, c, http.MethodGet, path, nil)
	return page.Value, err
}

// do makes a request without a document, and ignores the answer.
func (c *Client) do(ctx context.Context, method, path string) error {
	_, err := c.call(ctx, method, path, nil, nil)
	return err
}
