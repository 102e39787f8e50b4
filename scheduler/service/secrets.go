package service

import (
	"context"
	"fmt"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/trail"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// SecretKeeper manages shared secrets and rotates the sealing key; see package secrets.
type SecretKeeper struct {
	shared  *shared
	manager *secrets.Manager
}

func newSecrets(h *shared) SecretKeeper {
	return SecretKeeper{h, secrets.NewManager(secrets.ManagerConfig{Vault: h.Secrets, Jobs: h.Store, Refers: h.refers})}
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
	e := &trail.Entry{Kind: trail.Secret, Op: "put", Name: name, Result: string(view.Updated)}
	err = s.shared.audited(ctx, e, func(e *trail.Entry) (err error) {
		if shown, created, err = s.manager.Put(ctx, name, body); created {
			e.Result = string(view.Created)
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
	e := &trail.Entry{Kind: trail.Secret, Op: "delete", Name: name, Result: "deleted"}
	return s.shared.audited(ctx, e, func(*trail.Entry) error { return s.manager.Delete(ctx, name, force) })
}

// checkCollections returns ErrConflict if the defaults of a collection refer to a shared secret.
func (s SecretKeeper) checkCollections(ctx context.Context, secret string) error {
	return s.shared.Store.Collections().Each(ctx, func(st scheduler.Stored) error {
		c, err := scheduler.DecodeCollection(st.Key.Job, st.Revision, st.Data)
		if err == nil {
			c.Defaults, err = c.ReadDefaults(s.shared.Actions, scheduler.Limits{})
		}
		if err != nil || c.Defaults.Refers(secret) {
			return fmt.Errorf("secret %s: %w: the defaults of collection %s refer to it, or cannot be read",
				secret, scheduler.ErrConflict, st.Key.Job)
		}
		return nil
	})
}

// RotateSecrets is [secrets.Manager.Rotate].
func (s SecretKeeper) RotateSecrets(ctx context.Context) (*secrets.Rotation, error) {
	var rotation *secrets.Rotation
	e := &trail.Entry{Kind: trail.System, Op: "rotate", Name: "keys", Result: string(view.Updated)}
	err := s.shared.audited(ctx, e, func(*trail.Entry) (err error) {
		rotation, err = s.manager.Rotate(ctx)
		return err
	})
	return rotation, err
}
