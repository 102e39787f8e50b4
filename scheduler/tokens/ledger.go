package tokens

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/carillon-sched/carillon/scheduler"
)

// keyEntry is the entry of the ledger that has the key of the MACs. It says that there are tokens, or were.
const keyEntry = "token-key"

const keyBytes = 32

// revokedEntry is the entry of the ledger that says that a token is revoked. It stays.
func revokedEntry(id string) string { return "token-revoked-" + id }

// errKey says that the key is damaged.
var errKey = errors.New("the entry " + keyEntry + " of the settings is damaged: an operator makes new tokens on NATS, " +
	"with \"carillon token create --nats-url\"")

// key returns the key of the MACs. With create it replaces a missing or damaged key, which invalidates all tokens made with
// another key.
func (k *Keeper) key(ctx context.Context, create bool) ([]byte, error) {
	if key := k.secret.Load(); key != nil {
		return *key, nil
	}
	st, err := k.ledger.Load(ctx, keyEntry)
	for create && (errors.Is(err, scheduler.ErrNotFound) || err == nil && len(st.Data) != keyBytes) {
		fresh := make([]byte, keyBytes)
		_, _ = rand.Read(fresh) // never fails
		if _, err = k.ledger.Save(ctx, keyEntry, fresh, st.Revision); err == nil {
			st.Data = fresh
		} else if errors.Is(err, scheduler.ErrConflict) { // another process has made it, and a read may not show it yet
			st, err = k.ledger.Load(ctx, keyEntry)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case len(st.Data) != keyBytes:
		return nil, errKey
	}
	k.secret.Store(&st.Data)
	return st.Data, nil
}

// sign returns the stored form of a token, with its MAC.
func (k *Keeper) sign(ctx context.Context, s *stored) ([]byte, error) {
	key, err := k.key(ctx, true)
	if err != nil {
		return nil, fmt.Errorf("the key of the access tokens: %w", err)
	}
	s.MAC = s.sum(key)
	return json.Marshal(s)
}

// Sign returns a stored token of a backup, signed with this store's key. A damaged token stays damaged. With create, Sign makes
// a missing key; without it, it returns the token unchanged.
func (k *Keeper) Sign(ctx context.Context, id string, data []byte, create bool) ([]byte, error) {
	s, err := decode(id, 0, data)
	if err != nil {
		return data, nil //nolint:nilerr // nobody can use it
	}
	if _, err := k.key(ctx, create); errors.Is(err, scheduler.ErrNotFound) && !create {
		return data, nil
	}
	return k.sign(ctx, s)
}

// check returns why a stored token is invalid, or "". A token written by another program has a wrong MAC. An old copy of a
// revoked token has a valid MAC, but the ledger records its revocation.
func (k *Keeper) check(ctx context.Context, s *stored) (problem string, err error) {
	if s.sound.Load() {
		return "", nil
	}
	key, err := k.key(ctx, false)
	switch {
	case errors.Is(err, scheduler.ErrNotFound), errors.Is(err, errKey):
		key = nil
	case err != nil:
		return "", err
	}
	if key == nil || !hmac.Equal([]byte(s.MAC), []byte(s.sum(key))) {
		return "this token cannot be verified: something else than a scheduler has changed the stored tokens, " +
			"or their key; make a new token", nil
	}
	if _, err := k.ledger.Load(ctx, revokedEntry(s.ID)); err == nil {
		return "this token was revoked", nil
	} else if !errors.Is(err, scheduler.ErrNotFound) {
		return "", err
	}
	s.sound.Store(true)
	return "", nil
}
