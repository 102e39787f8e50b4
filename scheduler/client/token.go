package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// CreateToken creates an access token. The answer has its text, which cannot be retrieved later.
func (c *Client) CreateToken(ctx context.Context, q v1.TokenRequest) (*v1.NewToken, error) {
	return send[v1.NewToken](ctx, c, "/tokens", q)
}

// Tokens returns all access tokens without their texts, newest last.
func (c *Client) Tokens(ctx context.Context) ([]*v1.Token, error) {
	return list[*v1.Token](ctx, c, "/tokens")
}

// RevokeToken revokes an access token immediately.
func (c *Client) RevokeToken(ctx context.Context, id string) (*v1.Token, error) {
	return ask[v1.Token](ctx, c, http.MethodDelete, "/tokens/"+url.PathEscape(id), nil)
}
