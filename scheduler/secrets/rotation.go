package secrets

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/scheduler/source"
)

type (
	// Rotation is the result of a key rotation.
	Rotation = v1.Rotation

	// RotationFailure is an entry that a rotation could not seal.
	RotationFailure = v1.RotationFailure
)

// maxFailed is the maximum number of failures that a rotation lists.
const maxFailed = 100

// Rotate seals the secrets of every job and source, and every shared secret, with the first key of this process, one compare-and-set
// per entry. A job keeps its generation, schedule and baton. You can interrupt and repeat a rotation at any time.
// Earlier revisions of definitions, of which the store keeps a few for occurrences in progress, stay unchanged.
//
// Errors: ErrConflict if the process has no key.
func (m *Manager) Rotate(ctx context.Context) (*Rotation, error) {
	r := &rotator{vault: m.vault, jobs: m.jobs, did: Rotation{Key: m.vault.keys.First(), Failed: []RotationFailure{}}}
	if r.did.Key == "" {
		return nil, fmt.Errorf("%w: %s", scheduler.ErrConflict, noKey)
	}
	err := m.vault.store.Each(ctx, func(st scheduler.Stored) error { return r.rotateShared(ctx, st) })
	if err != nil {
		return &r.did, err
	}
	err = m.scanJobs(ctx, r.rotateJob)
	if err == nil {
		err = m.eachSource(ctx, func(k scheduler.Key, st scheduler.Stored) error { return r.rotateSource(ctx, m.bucket(), k, st) })
	}
	failed := r.did.Failed
	sort.Slice(failed, func(i, j int) bool {
		a, b := failed[i], failed[j]
		return a.Secret+"\x00"+a.Source+"\x00"+a.Job < b.Secret+"\x00"+b.Source+"\x00"+b.Job
	})
	r.did.Failures = len(failed)
	r.did.Failed = failed[:min(len(failed), maxFailed)]
	return &r.did, err
}

// rotator is a rotation in progress.
type rotator struct {
	vault *Vault
	jobs  JobStore

	mu  sync.Mutex
	did Rotation
}

// overtaken is the failure of an entry that other writers keep changing.
const overtaken = "other clients kept changing it"

func (r *rotator) fail(f RotationFailure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.did.Failed = append(r.did.Failed, f)
}

func (r *rotator) count(counter *int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*counter++
}

// rotateShared seals a shared secret again.
func (r *rotator) rotateShared(ctx context.Context, st scheduler.Stored) error {
	name := st.Key.Job
	for range casTries {
		stored, err := decodeShared(name, st.Data)
		var text string
		if err == nil {
			text, err = stored.open(r.vault.keys)
		}
		if err != nil {
			r.fail(RotationFailure{Secret: name, Reason: err.Error()})
			return nil //nolint:nilerr // reported; the others follow
		}
		if seal.KeyID(stored.Sealed) == r.did.Key {
			r.count(&r.did.Skipped)
			return nil
		}
		if stored.Sealed, err = r.vault.keys.Seal(sharedPlace(name), text); err != nil {
			return err
		}
		if err = r.vault.save(ctx, stored, st.Revision); err == nil {
			r.count(&r.did.Secrets)
		}
		if !errors.Is(err, scheduler.ErrConflict) {
			return err
		}
		if st, err = r.vault.store.Load(ctx, name); err != nil {
			return scheduler.Ignore(err, scheduler.ErrNotFound)
		}
	}
	r.fail(RotationFailure{Secret: name, Reason: overtaken})
	return nil
}

// rotateJob seals the secrets of a job again. It does not parse the action, so it also handles action types that this
// process does not know.
func (r *rotator) rotateJob(ctx context.Context, st scheduler.Stored) error {
	return r.rotate(st.Key, st, RotationFailure{Job: st.Key.String()}, &r.did.Jobs,
		func(st scheduler.Stored, data []byte) error {
			_, err := r.jobs.RewriteJob(ctx, st.Key, data, st.Revision, scheduler.StoredState(st.Data).Final())
			return err
		}, func() (scheduler.Stored, error) { return r.jobs.LoadJob(ctx, st.Key) })
}

// rotate seals the secrets of a job or source again, which are bound to a name, and counts it.
func (r *rotator) rotate(
	bound scheduler.Key, st scheduler.Stored, failure RotationFailure, done *int,
	save func(scheduler.Stored, []byte) error, load func() (scheduler.Stored, error),
) error {
	for range casTries {
		data, stale, wrong := r.vault.reseal(bound, st.Data)
		if stale {
			err := save(st, data)
			if errors.Is(err, scheduler.ErrConflict) {
				if st, err = load(); err != nil {
					return scheduler.Ignore(err, scheduler.ErrNotFound)
				}
				continue
			}
			if err != nil {
				return err
			}
		}
		switch {
		case wrong != nil:
			failure.Reason = wrong.Error()
			r.fail(failure)
		case stale:
			r.count(done)
		case data != nil:
			r.count(&r.did.Skipped)
		}
		return nil
	}
	failure.Reason = overtaken
	r.fail(failure)
	return nil
}

// reseal returns a stored job with its secrets sealed by the first key, nil if it has none. stale reports whether the
// result differs. The error reports secrets that could not be opened; these stay unchanged.
func (v *Vault) reseal(k scheduler.Key, data []byte) (resealed []byte, stale bool, err error) {
	head, properties, missing := scheduler.SplitStored(data)
	if missing != nil || !document.MayHoldSealed(properties) {
		return nil, false, nil
	}
	tree, err := document.Parse(properties)
	if err != nil {
		return nil, false, err
	}
	opened := tree.Unseal("", func(path, sealed string) (string, error) {
		text, failed := v.keys.Open(jobPlace(k, path), sealed)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", path, failed))
		} else if seal.KeyID(sealed) != v.keys.First() {
			stale = true
		}
		return text, failed
	})
	if !stale {
		return data, false, err
	}
	again, failed := v.Seal(k, opened)
	if failed != nil {
		return nil, false, failed
	}
	return scheduler.JoinStored(head, again.JSON()), true, err
}

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
	return r.rotate(bound, st, RotationFailure{Source: sourceName(st)}, &r.did.Sources,
		func(st scheduler.Stored, data []byte) error {
			_, err := bucket.Save(ctx, st.Key.Job, data, st.Revision)
			return err
		}, func() (scheduler.Stored, error) { return bucket.Load(ctx, st.Key.Job) })
}

// Resolve returns the text of a secret of a source. A reference yields the text of the shared secret.
func (v *Vault) Resolve(ctx context.Context, s document.Secret) (string, error) {
	at := scheduler.Attempt{Shared: func(name string) (string, error) { return v.Shared(ctx, name) }}
	return at.Reveal(s)
}

// sourceName returns collection/source for a stored source, <collection>.<source>.
func sourceName(st scheduler.Stored) string { return strings.Replace(st.Key.Job, ".", "/", 1) }
