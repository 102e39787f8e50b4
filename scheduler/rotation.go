package scheduler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
)

// Rotation is what a rotation of keys did.
type Rotation struct {
	Key      string            `json:"key"`      // id of the key that everything is sealed with now
	Jobs     int               `json:"jobs"`     // sealed again
	Secrets  int               `json:"secrets"`  // shared ones, sealed again
	Skipped  int               `json:"skipped"`  // jobs with secrets, and shared secrets, that had this key already
	Failures int               `json:"failures"` // what could not be sealed again
	Failed   []RotationFailure `json:"failed"`   // of these, the first hundred by name

	mu sync.Mutex
}

// RotationFailure is something that could not be sealed again.
type RotationFailure struct {
	Job    string `json:"job,omitempty"`    // collection/job
	Secret string `json:"secret,omitempty"` // name of a shared secret
	Reason string `json:"reason"`
}

// maxFailed is how many failures a rotation tells one by one.
const maxFailed = 100

// RotateSecrets seals the secrets of every job, and every shared secret, with
// the first key of this process, each by compare-and-set. Nothing else changes:
// a job keeps its generation, its schedule and its baton. It may be repeated,
// and cut short, at any time. Earlier revisions of definitions, of which the
// store keeps a few for occurrences under way, stay as they are.
//
// Errors: ErrConflict when there is no key.
func (s *Service) RotateSecrets(ctx context.Context) (*Rotation, error) {
	r := &Rotation{Key: s.secrets.keys.First(), Failed: []RotationFailure{}}
	if r.Key == "" {
		return nil, fmt.Errorf("%w: %s", ErrConflict, noKey)
	}
	err := s.store.EachSecret(ctx, func(st Stored) error { return s.rotateShared(ctx, st, r) })
	if err != nil {
		return r, err
	}
	err = s.scanJobs(ctx, func(ctx context.Context, st Stored) error { return s.rotateJob(ctx, st, r) })
	sort.Slice(r.Failed, func(i, j int) bool {
		a, b := r.Failed[i], r.Failed[j]
		return a.Secret+"\x00"+a.Job < b.Secret+"\x00"+b.Job
	})
	r.Failures = len(r.Failed)
	r.Failed = r.Failed[:min(len(r.Failed), maxFailed)]
	return r, err
}

func (r *Rotation) fail(f RotationFailure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Failed = append(r.Failed, f)
}

func (r *Rotation) count(counter *int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*counter++
}

// rotateShared seals a shared secret again.
func (s *Service) rotateShared(ctx context.Context, st Stored, r *Rotation) error {
	name := st.Key.Job
	for range casTries {
		stored, err := decodeShared(name, st.Data)
		var text string
		if err == nil {
			text, err = stored.open(s.secrets.keys)
		}
		if err != nil {
			r.fail(RotationFailure{Secret: name, Reason: err.Error()})
			return nil //nolint:nilerr // it is told, and the others follow
		}
		if seal.KeyID(stored.Sealed) == r.Key {
			r.count(&r.Skipped)
			return nil
		}
		if stored.Sealed, err = s.secrets.keys.Seal(sharedPlace(name), text); err != nil {
			return err
		}
		if err = s.saveShared(ctx, stored, st.Revision); err == nil {
			r.count(&r.Secrets)
		}
		if !errors.Is(err, ErrConflict) {
			return err
		}
		if st, err = s.store.LoadSecret(ctx, name); err != nil {
			return unlessGone(err)
		}
	}
	r.fail(RotationFailure{Secret: name, Reason: "it was changed by others all the while"})
	return nil
}

// unlessGone drops the error of something that was deleted meanwhile.
func unlessGone(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// rotateJob seals the secrets of a job again. Its action is not read: that of a
// type which this process does not know is rotated like any other.
func (s *Service) rotateJob(ctx context.Context, st Stored, r *Rotation) error {
	for range casTries {
		data, stale, wrong := s.secrets.reseal(st.Key, st.Data)
		if stale {
			_, err := s.store.RewriteJob(ctx, st.Key, data, st.Revision, storedState(st.Data).Final())
			if errors.Is(err, ErrConflict) {
				if st, err = s.store.LoadJob(ctx, st.Key); err != nil {
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
			r.fail(RotationFailure{Job: st.Key.String(), Reason: wrong.Error()})
		case stale:
			r.count(&r.Jobs)
		case data != nil:
			r.count(&r.Skipped)
		}
		return nil
	}
	r.fail(RotationFailure{Job: st.Key.String(), Reason: "it was changed by others all the while"})
	return nil
}

// reseal returns a stored job with its secrets sealed with the first key: nil
// when it has none. stale tells whether that changed anything. The error says
// that some could not be opened; they are as they were.
func (v *Vault) reseal(k Key, data []byte) (resealed []byte, stale bool, err error) {
	head, properties, ok := bytes.Cut(data, []byte(propertiesMember))
	if !ok || !document.MayHoldSealed(properties) {
		return nil, false, nil
	}
	tree, err := document.Parse(properties[:len(properties)-1])
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
	again, failed := v.sealTree(k, opened)
	if failed != nil {
		return nil, false, failed
	}
	resealed = append(slices.Clone(head), propertiesMember...)
	return append(again.AppendJSON(resealed), '}'), true, err
}

// scanJobs calls f for every stored job, for many at the same time.
func (s *Service) scanJobs(ctx context.Context, f func(context.Context, Stored) error) error {
	var keys []Key
	if err := s.store.EachJob(ctx, "", func(k Key) error { keys = append(keys, k); return nil }); err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(auditWorkers)
	for chunk := range slices.Chunk(keys, auditChunk) {
		g.Go(func() error {
			var found []Stored
			if err := s.store.LoadJobs(gctx, chunk, func(st Stored) { found = append(found, st) }); err != nil {
				return err
			}
			for _, st := range found {
				if err := f(gctx, st); err != nil {
					return fmt.Errorf("job %s: %w", st.Key, err)
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// refersTo reports whether a job that may still run names a shared secret. mark
// is how that looks in the store.
func (s *Service) refersTo(st Stored, name string, mark []byte) bool {
	if !bytes.Contains(st.Data, mark) || storedState(st.Data).Final() {
		return false
	}
	j, err := DecodeJob(st.Key, st.Revision, st.Data, s.actions, s.secrets)
	if err != nil {
		return true // this process cannot tell
	}
	return slices.ContainsFunc(j.Def.refs, func(ref document.SecretRef) bool { return ref.Name == name })
}
