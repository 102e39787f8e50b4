package secrets

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/source"
)

// sources are the stored sources of events.
type sources struct{ bucket func() scheduler.Bucket }

// eachSource calls f for every source, with the name to which its secrets are bound.
func (s sources) eachSource(ctx context.Context, f func(bound scheduler.Key, st scheduler.Stored) error) error {
	if s.bucket == nil {
		return nil
	}
	return s.bucket().Each(ctx, func(st scheduler.Stored) error {
		k, err := source.StoredKey(st.Key.Job)
		if err != nil {
			return nil //nolint:nilerr // nobody reads it
		}
		return f(source.SealKey(k), st)
	})
}

// rotateSource seals the secrets of a source again.
func (r *rotator) rotateSource(ctx context.Context, bucket scheduler.Bucket, bound scheduler.Key, st scheduler.Stored) error {
	for range casTries {
		data, stale, wrong := r.vault.reseal(bound, st.Data)
		if stale {
			_, err := bucket.Save(ctx, st.Key.Job, data, st.Revision)
			if errors.Is(err, scheduler.ErrConflict) {
				if st, err = bucket.Load(ctx, st.Key.Job); err != nil {
					return unlessGone(err)
				}
				continue
			}
			if err != nil {
				return err
			}
		}
		switch {
		case wrong != nil:
			r.fail(RotationFailure{Source: sourceName(st), Reason: wrong.Error()})
		case stale:
			r.count(&r.did.Sources)
		case data != nil:
			r.count(&r.did.Skipped)
		}
		return nil
	}
	r.fail(RotationFailure{Source: sourceName(st), Reason: overtaken})
	return nil
}

// errLocked is the failure of a source whose secret this process cannot open.
var errLocked = errors.New("this scheduler has no key that opens the secret; start it with --secret-key-file")

// Resolve returns the text of a secret of a source. A reference yields the text of the shared secret.
func (v *Vault) Resolve(ctx context.Context, s document.Secret) (string, error) {
	if name := s.Ref(); name != "" {
		text, err := v.Shared(ctx, name)
		if err != nil {
			return "", fmt.Errorf("secret %s: %w", name, err)
		}
		return text, nil
	}
	text, ok := s.Literal()
	if !ok {
		return "", errLocked
	}
	return text, nil
}

// sourceName returns collection/source for a stored source, <collection>.<source>.
func sourceName(st scheduler.Stored) string { return strings.Replace(st.Key.Job, ".", "/", 1) }
