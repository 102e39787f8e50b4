package service

import (
	"context"
	"fmt"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/tokens"
)

// TokenKeeper keeps access tokens. Package tokens says how.
type TokenKeeper struct{ keeper *tokens.Keeper }

// errNoTokens is what a service without a keeper has.
var errNoTokens = fmt.Errorf("%w: this scheduler keeps no tokens", scheduler.ErrConflict)

// CreateToken is [tokens.Keeper.Create].
func (t TokenKeeper) CreateToken(ctx context.Context, body []byte) (made *tokens.Token, text string, err error) {
	if t.keeper == nil {
		return nil, "", errNoTokens
	}
	return t.keeper.Create(ctx, body)
}

// Tokens is [tokens.Keeper.List].
func (t TokenKeeper) Tokens(ctx context.Context) ([]*tokens.Token, error) {
	if t.keeper == nil {
		return nil, nil
	}
	return t.keeper.List(ctx)
}

// RevokeToken is [tokens.Keeper.Revoke].
func (t TokenKeeper) RevokeToken(ctx context.Context, id string) (*tokens.Token, error) {
	if t.keeper == nil {
		return nil, errNoTokens
	}
	return t.keeper.Revoke(ctx, id)
}
