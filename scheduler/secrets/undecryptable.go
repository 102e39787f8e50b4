package secrets

import (
	"context"
	"slices"
	"sort"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// Undecryptable tells of secrets in the store that this process cannot open: it
// has not the key that they were sealed with, or another one of that id.
type Undecryptable = view.Undecryptable

// Undecryptable looks for secrets that cannot be opened: at every shared one, and
// at those of some jobs. It returns them by the ids of their keys.
func (m *Manager) Undecryptable(ctx context.Context, sample []scheduler.Key) ([]Undecryptable, error) {
	byKey := map[string]*Undecryptable{}
	note := func(sealed, example string, err error) *Undecryptable {
		id := seal.KeyID(sealed)
		if byKey[id] == nil {
			byKey[id] = &Undecryptable{Key: id, Reason: err.Error(), Example: example}
		}
		return byKey[id]
	}
	err := m.vault.store.Each(ctx, func(st scheduler.Stored) error {
		stored, err := decodeShared(st.Key.Job, st.Data)
		if err == nil {
			_, err = stored.open(m.vault.keys)
		}
		if err != nil {
			note(stored.Sealed, "secret "+st.Key.Job, err).Secrets++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for chunk := range slices.Chunk(sample, scanChunk) {
		err := m.jobs.LoadJobs(ctx, chunk, func(st scheduler.Stored) {
			for sealed, err := range m.vault.undecryptable(st) {
				note(sealed, "job "+st.Key.String(), err).Jobs++
			}
		})
		if err != nil {
			return nil, err
		}
	}
	found := make([]Undecryptable, 0, len(byKey))
	for _, u := range byKey {
		found = append(found, *u)
	}
	sort.Slice(found, func(i, j int) bool { return found[i].Key < found[j].Key })
	return found, nil
}

// undecryptable returns the secrets of a stored job that cannot be opened, one
// for each key, with the reason.
func (v *Vault) undecryptable(st scheduler.Stored) map[string]error {
	_, properties, err := scheduler.SplitStored(st.Data)
	if err != nil || !document.MayHoldSealed(properties) {
		return nil
	}
	tree, err := document.Parse(properties)
	if err != nil {
		return nil // an audit tells of it
	}
	byKey := map[string]string{}
	found := map[string]error{}
	tree.Unseal("", func(path, sealed string) (string, error) {
		text, err := v.keys.Open(jobPlace(st.Key, path), sealed)
		if id := seal.KeyID(sealed); err != nil && byKey[id] == "" {
			byKey[id] = sealed
			found[sealed] = err
		}
		return text, err
	})
	return found
}
