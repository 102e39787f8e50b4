package control

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/auth/tokens"
	"github.com/carillon-sched/carillon/scheduler/secrets"
)

// SecretKeeper manages shared secrets and rotates the sealing key; see package secrets.
type SecretKeeper struct {
	shared  *shared
	manager *secrets.Manager
}

func newSecrets(h *shared) SecretKeeper {
	return SecretKeeper{h, secrets.NewManager(secrets.ManagerConfig{
		Vault: h.Secrets, Jobs: h.Store, Sources: h.Store.Sources, Refers: h.refers,
	})}
}

// refers reports whether a stored job refers to a shared secret, or may refer to it.
func (h *shared) refers(st scheduler.Stored, name string) bool {
	j, err := scheduler.DecodeJobWith(h.plans, st.Key, st.Revision, st.Data, h.Actions, h.Secrets)
	return err != nil || j.Def.Refers(name)
}

// PutSecret is [secrets.Manager.Put].
func (s SecretKeeper) PutSecret(ctx context.Context, name string, body []byte) (shown *secrets.SharedSecret, created bool, err error) {
	if err := scheduler.ValidateName("secret", name); err != nil {
		return nil, false, err
	}
	e := &audit.Entry{Kind: audit.Secret, Op: "put", Name: name, Result: string(v1.Updated)}
	err = s.shared.audited(ctx, e, func(e *audit.Entry) (err error) {
		if shown, created, err = s.manager.Put(ctx, name, body); created {
			e.Result = string(v1.Created)
		}
		return err
	})
	return shown, created, err
}

// Secrets is [secrets.Manager.List].
func (s SecretKeeper) Secrets(ctx context.Context) ([]*secrets.SharedSecret, error) {
	return s.manager.List(ctx)
}

// DeleteSecret is [secrets.Manager.Delete].
func (s SecretKeeper) DeleteSecret(ctx context.Context, name string, force bool) error {
	if err := scheduler.ValidateName("secret", name); err != nil {
		return err
	}
	if err := s.checkCollections(ctx, name); err != nil && !force {
		return err
	}
	e := &audit.Entry{Kind: audit.Secret, Op: "delete", Name: name, Result: "deleted"}
	return s.shared.audited(ctx, e, func(*audit.Entry) error { return s.manager.Delete(ctx, name, force) })
}

// checkCollections returns ErrConflict if the defaults of a collection refer to a shared secret.
func (s SecretKeeper) checkCollections(ctx context.Context, secret string) error {
	names, err := s.collectionsWith(ctx, secret)
	if err != nil || len(names) == 0 {
		return err
	}
	return fmt.Errorf("secret %s: %w: the defaults of collection %s refer to it, or cannot be read",
		secret, scheduler.ErrConflict, names[0])
}

// collectionsWith returns the collections whose defaults refer to a shared secret, or cannot be read.
func (s SecretKeeper) collectionsWith(ctx context.Context, secret string) (names []string, err error) {
	err = s.shared.Store.Collections().Each(ctx, func(st scheduler.Stored) error {
		c, err := scheduler.DecodeCollection(st.Key.Job, st.Revision, st.Data)
		if err == nil {
			c.Defaults, err = c.ReadDefaults(s.shared.Actions, scheduler.Limits{})
		}
		if err != nil || c.Defaults.Refers(secret) {
			names = append(names, st.Key.Job)
		}
		return nil
	})
	return names, err
}

// SecretUsers returns the jobs, sources and collections that refer to a shared secret. It reads all jobs.
func (s SecretKeeper) SecretUsers(ctx context.Context, name string) ([]string, error) {
	if err := scheduler.ValidateName("secret", name); err != nil {
		return nil, err
	}
	release, err := takeTurn(ctx, s.shared.doctoring)
	if err != nil {
		return nil, err
	}
	defer release()
	users, err := s.manager.Users(ctx, name)
	if err != nil {
		return nil, err
	}
	collections, err := s.collectionsWith(ctx, name)
	for _, one := range collections {
		users = append(users, "collection "+one)
	}
	return users, err
}

// RotateSecrets is [secrets.Manager.Rotate].
func (s SecretKeeper) RotateSecrets(ctx context.Context) (*secrets.Rotation, error) {
	var rotation *secrets.Rotation
	e := &audit.Entry{Kind: audit.System, Op: "rotate", Name: "keys", Result: string(v1.Updated)}
	err := s.shared.audited(ctx, e, func(*audit.Entry) (err error) {
		rotation, err = s.manager.Rotate(ctx)
		return err
	})
	return rotation, err
}

// TokenKeeper manages access tokens; see package tokens.
type TokenKeeper struct{ shared *shared }

// NewTokenKeeper returns a TokenKeeper without a service, for a tool outside the schedulers. It writes its changes to
// the audit log, by the clock of the store.
func NewTokenKeeper(keeper *tokens.Keeper, st scheduler.Store, t audit.Store) TokenKeeper {
	return TokenKeeper{&shared{Config: Config{Tokens: keeper, Store: st, Trail: t, Logger: slog.New(slog.DiscardHandler)}}}
}

// errNoTokens is the error of a service without a token keeper.
var errNoTokens = fmt.Errorf("%w: this scheduler keeps no tokens", scheduler.ErrConflict)

// CreateToken is [tokens.Keeper.Create].
func (t TokenKeeper) CreateToken(ctx context.Context, body []byte) (made *tokens.Token, text string, err error) {
	if t.shared.Tokens == nil {
		return nil, "", errNoTokens
	}
	e := &audit.Entry{Kind: audit.Token, Op: "create", Name: "new", Result: string(v1.Created)}
	err = t.shared.audited(ctx, e, func(e *audit.Entry) (err error) {
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
	e := &audit.Entry{Kind: audit.Token, Op: "revoke", Name: id, Result: "revoked"}
	err = t.shared.audited(ctx, e, func(*audit.Entry) (err error) {
		revoked, err = t.shared.Tokens.Revoke(ctx, id)
		return err
	})
	return revoked, err
}
