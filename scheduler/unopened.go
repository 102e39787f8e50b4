package scheduler

import (
	"bytes"
	"context"
	"slices"
	"sort"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
)

// Unopened tells of secrets in the store that this process cannot open: it has
// not the key that they were sealed with, or another one of that id.
type Unopened struct {
	Key     string `json:"key"`     // id of the key that seals them; "" when that cannot be told
	Reason  string `json:"reason"`  // why the first one cannot be opened
	Secrets int    `json:"secrets"` // shared ones
	Jobs    int    `json:"jobs"`    // jobs with such secrets, among those that were looked at
	Example string `json:"example"` // "secret NAME" or "job COLLECTION/NAME"
}

// keySample is how many jobs an audit looks into for secrets that cannot be
// opened. A key that is lost locks far more than one job in many.
const keySample = 1024

// unopened looks for secrets that cannot be opened: at every shared one, and at
// those of some jobs.
func (s *Service) unopened(ctx context.Context, jobs []Key) ([]Unopened, error) {
	byKey := map[string]*Unopened{}
	note := func(sealed, example string, err error) *Unopened {
		id := seal.KeyID(sealed)
		if byKey[id] == nil {
			byKey[id] = &Unopened{Key: id, Reason: err.Error(), Example: example}
		}
		return byKey[id]
	}
	err := s.store.EachSecret(ctx, func(st Stored) error {
		stored, err := decodeShared(st.Key.Job, st.Data)
		if err == nil {
			_, err = stored.open(s.secrets.keys)
		}
		if err != nil {
			note(stored.Sealed, "secret "+st.Key.Job, err).Secrets++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for chunk := range slices.Chunk(jobs, auditChunk) {
		err := s.store.LoadJobs(ctx, chunk, func(st Stored) {
			for sealed, err := range s.secrets.lockedIn(st) {
				note(sealed, "job "+st.Key.String(), err).Jobs++
			}
		})
		if err != nil {
			return nil, err
		}
	}
	found := make([]Unopened, 0, len(byKey))
	for _, u := range byKey {
		found = append(found, *u)
	}
	sort.Slice(found, func(i, j int) bool { return found[i].Key < found[j].Key })
	return found, nil
}

// lockedIn returns the secrets of a stored job that cannot be opened, one for
// each key, with the reason.
func (v *Vault) lockedIn(st Stored) map[string]error {
	_, properties, ok := bytes.Cut(st.Data, []byte(propertiesMember))
	if !ok || !document.MayHoldSealed(properties) {
		return nil
	}
	tree, err := document.Parse(properties[:len(properties)-1])
	if err != nil {
		return nil // the audit tells of it
	}
	byKey := map[string]string{}
	locked := map[string]error{}
	tree.Unseal("", func(path, sealed string) (string, error) {
		text, err := v.keyring().Open(jobPlace(st.Key, path), sealed)
		if id := seal.KeyID(sealed); err != nil && byKey[id] == "" {
			byKey[id] = sealed
			locked[sealed] = err
		}
		return text, err
	})
	return locked
}
