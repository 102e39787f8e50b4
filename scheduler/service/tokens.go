package service

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/tokens"
	"github.com/carillon-sched/carillon/scheduler/trail"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// TokenKeeper manages access tokens; see package tokens.
type TokenKeeper struct{ shared *shared }

// NewTokenKeeper returns a TokenKeeper without a service, for a tool outside the schedulers. It writes its changes to
// the audit log, by the clock of the store.
func NewTokenKeeper(keeper *tokens.Keeper, st scheduler.Store, t trail.Store) TokenKeeper {
	return TokenKeeper{&shared{Config: Config{Tokens: keeper, Store: st, Trail: t, Logger: slog.New(slog.DiscardHandler)}}}
}

// errNoTokens is the error of a service without a token keeper.
var errNoTokens = fmt.Errorf("%w: this scheduler keeps no tokens", scheduler.ErrConflict)

// CreateToken is [tokens.Keeper.Create].
func (t TokenKeeper) CreateToken(ctx context.Context, body []byte) (made *tokens.Token, text string, err error) {
	if t.shared.Tokens == nil {
		return nil, "", errNoTokens
	}
	e := &trail.Entry{Kind: trail.Token, Op: "create", Name: "new", Result: string(view.Created)}
	err = t.shared.audited(ctx, e, func(e *trail.Entry) (err error) {
		if made, text, err = t.shared.Tokens.Create(ctx, body); err == nil {
			e.Name = made.ID
		}
		return err
	})
	return made, text, err
}

// Tokens is [tokens.Keeper.List].
func (t TokenKeeper) Tokens(ctx context.Context) ([]*tokens.Token, error) {
	if t.shared.Tokens == nil {
		return nil, nil
	}
	return t.shared.Tokens.List(ctx)
}

// RevokeToken is [tokens.Keeper.Revoke].
func (t TokenKeeper) RevokeToken(ctx context.Context, id string) (revoked *tokens.Token, err error) {
	if t.shared.Tokens == nil {
		return nil, errNoTokens
	}
	if !tokens.WellFormed(id) {
		return nil, fmt.Errorf("token %s: %w", id, scheduler.ErrNotFound)
	}
	e := &trail.Entry{Kind: trail.Token, Op: "revoke", Name: id, Result: "revoked"}
	err = t.shared.audited(ctx, e, func(*trail.Entry) (err error) {
		revoked, err = t.shared.Tokens.Revoke(ctx, id)
		return err
	})
	return revoked, err
}
