package service

import (
	"context"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/secrets"
)

// SecretKeeper keeps shared secrets, and changes the key that everything is sealed
// with. Package secrets says how.
type SecretKeeper struct{ manager *secrets.Manager }

func newSecrets(h *shared) SecretKeeper {
	return SecretKeeper{secrets.NewManager(secrets.ManagerConfig{Vault: h.Secrets, Jobs: h.Store, Refers: h.refers})}
}

// refers reports whether a stored job refers to a shared secret, also when this
// process cannot tell.
func (h *shared) refers(st scheduler.Stored, name string) bool {
	j, err := h.decode(st)
	return err != nil || j.Def.Refers(name)
}

// PutSecret is [secrets.Manager.Put].
func (s SecretKeeper) PutSecret(ctx context.Context, name string, body []byte) (shown *secrets.SharedSecret, created bool, err error) {
	return s.manager.Put(ctx, name, body)
}

// Secrets is [secrets.Manager.List].
func (s SecretKeeper) Secrets(ctx context.Context) ([]*secrets.SharedSecret, error) {
	return s.manager.List(ctx)
}

// DeleteSecret is [secrets.Manager.Delete].
func (s SecretKeeper) DeleteSecret(ctx context.Context, name string, force bool) error {
	return s.manager.Delete(ctx, name, force)
}

// RotateSecrets is [secrets.Manager.Rotate].
func (s SecretKeeper) RotateSecrets(ctx context.Context) (*secrets.Rotation, error) {
	return s.manager.Rotate(ctx)
}
