// Package client talks to a Carillon server over its REST API.
//
// Its errors match the sentinels of package scheduler, as those of the service
// behind the API do: [scheduler.ErrInvalid] with every problem and its path,
// ErrNotFound, ErrConflict, and ErrUnavailable also when no server answers.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Client is a connection to a server. It is safe for concurrent use.
type Client struct {
	base  string
	token string // "": none
	http  *http.Client
}

// The bounds of a request.
const (
	answerTimeout = 30 * time.Second // until the answer begins; a doctor looks at every job
	maxAnswer     = 64 << 20         // bytes
	maxRedirects  = 10
)

// New returns a client of the server at base, such as http://127.0.0.1:8080.
// It does no I/O.
func New(base string) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, scheduler.Invalid("server", fmt.Sprintf("%q is not a URL such as http://127.0.0.1:8080", base))
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dial, ResponseHeaderTimeout: answerTimeout, MaxIdleConnsPerHost: 16,
	}
	return &Client{base: strings.TrimRight(base, "/"), http: &http.Client{Transport: transport}}, nil
}

// Authorize has all requests carry a token, as Authorization: Bearer. It is for
// the server of the client alone: an answer that leads elsewhere is not followed.
// "" is no token.
func (c *Client) Authorize(token string) {
	c.token = token
	if token != "" {
		c.http.CheckRedirect = sameServer
	}
}

// sameServer keeps a client from following an answer to another server, or to
// the same one by another scheme or port.
func sameServer(to *http.Request, via []*http.Request) error {
	if from := via[0].URL; to.URL.Scheme != from.Scheme || to.URL.Host != from.Host || len(via) >= maxRedirects {
		return http.ErrUseLastResponse
	}
	return nil
}

// URL returns the server's address without a slash at its end.
func (c *Client) URL() string { return c.base }

// send makes a request and returns an answer of status 2xx.
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
		return nil, unreachable(ctx, c.base, err)
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	data, err := c.body(ctx, resp)
	if err != nil {
		return nil, err
	}
	return nil, refusal(resp, data)
}

// body reads the body of an answer.
func (c *Client) body(ctx context.Context, resp *http.Response) ([]byte, error) {
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, unreachable(ctx, c.base, err)
	}
	return data, nil
}

// call makes a request and decodes its answer into out, unless that is nil.
// Headers are "Name: value".
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
		return 0, &Error{Status: resp.StatusCode, Message: c.base + " does not answer as Carillon does: " + err.Error()}
	}
	return resp.StatusCode, nil
}
