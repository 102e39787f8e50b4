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
	return list[*view.Token](ctx, c, "/tokens")
}

// RevokeToken revokes an access token immediately.
func (c *Client) RevokeToken(ctx context.Context, id string) (*view.Token, error) {
	return ask[view.Token](ctx, c, http.MethodDelete, "/tokens/"+url.PathEscape(id), nil)
}
