package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/carillon-sched/carillon/scheduler/view"
)

// CreateToken creates an access token. The answer has its text, which cannot be retrieved later.
func (c *Client) CreateToken(ctx context.Context, q view.TokenRequest) (*view.NewToken, error) {
	return send[view.NewToken](ctx, c, "/tokens", q)
}

// Tokens returns all access tokens without their texts, newest last.
func (c *Client) Tokens(ctx context.Context) ([]*view.Token, error) {
	var page struct {
		Value []*view.Token `json:"value"`
	}
	_, err := c.call(ctx, http.MethodGet, "/tokens", nil, &page)
	return page.Value, err
}

// RevokeToken revokes an access token immediately.
func (c *Client) RevokeToken(ctx context.Context, id string) (*view.Token, error) {
	t := &view.Token{}
	_, err := c.call(ctx, http.MethodDelete, "/tokens/"+url.PathEscape(id), nil, t)
	return t, err
}
