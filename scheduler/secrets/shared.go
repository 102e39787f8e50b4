package secrets

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
)

// SharedSecret is a named secret that jobs refer to, without its text. An unreadable one carries only its problem.
type SharedSecret = v1.SharedSecret

// storedShared is the stored form of a shared secret.
type storedShared struct {
	name string

	Sealed      string    `json:"sealed"`
	Description string    `json:"description,omitempty"`
	Created     time.Time `json:"created"`
	Updated     time.Time `json:"updated"`
}

// decodeShared decodes a shared secret. If it fails, the result has only the name.
func decodeShared(name string, data []byte) (*storedShared, error) {
	s := &storedShared{name: name}
	if err := json.Unmarshal(data, s); err != nil {
		return &storedShared{name: name}, fmt.Errorf("its stored data cannot be read: %w", err)
	}
	return s, nil
}

func (s *storedShared) open(keys *seal.Keyring) (string, error) {
	text, err := keys.Open(sharedPlace(s.name), s.Sealed)
	if err != nil {
		return "", fmt.Errorf("it cannot be opened: %w", err)
	}
	return text, nil
}

func (s *storedShared) shown() *SharedSecret {
	return &SharedSecret{
		Name: s.name, Description: s.Description, Created: s.Created.UTC(), Updated: s.Updated.UTC(),
		Key: seal.KeyID(s.Sealed),
	}
}

// readShared parses the body of a request to set a secret, and seals it.
func (v *Vault) readShared(name string, body []byte) (*storedShared, error) {
	doc, err := scheduler.ParseDocument(body)
	if err != nil {
		return nil, err
	}
	r := document.NewReader()
	o := r.Object(doc, "")
	s := &storedShared{name: name, Updated: time.Now().UTC()}
	text := readValue(o)
	if d, ok := o.String("description"); ok {
		if len(d) > scheduler.MaxDescription {
			o.Problem("description", "is %d bytes long, at most %d are allowed", len(d), scheduler.MaxDescription)
		}
		s.Description = d
	}
	o.Done()
	if v.keys.First() == "" {
		o.Problem("value", "%s", noKey)
	}
	if err := r.Err(); err != nil {
		return nil, scheduler.AsInvalid(err)
	}
	s.Sealed, err = v.keys.Seal(sharedPlace(name), text)
	return s, err
}

// readValue reads the text of a shared secret.
func readValue(o *document.Object) string {
	if v, ok := o.Value("value"); ok && v.Kind() != document.KindString {
		o.Problem("value", "must be a string, not %s", v.Kind())
		return ""
	}
	if !o.Require("value") {
		return ""
	}
	secret, ok := o.Secret("value")
	text, _ := secret.Literal()
	if ok && text == "" {
		o.Problem("value", "must not be empty")
	}
	return text
}

// save replaces the revision of a shared secret that next was derived from.
func (v *Vault) save(ctx context.Context, next *storedShared, replaces uint64) error {
	data, err := json.Marshal(next)
	if err != nil {
		return err
	}
	revision, err := v.store.Save(ctx, next.name, data, replaces)
	if err != nil {
		return fmt.Errorf("secret %s: %w", next.name, err)
	}
	v.shared.Note(next.name, revision, data) // the watch will report the same
	return nil
}

// Undecryptable describes stored secrets that this process cannot open: it lacks their key, or has a different key with
// that ID.
type Undecryptable = v1.Undecryptable

// Undecryptable returns the secrets that cannot be opened, by key ID. It checks every shared secret and source, and the jobs in
// sample.
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
	err = m.eachSource(ctx, func(k scheduler.Key, st scheduler.Stored) error {
		for sealed, err := range m.vault.undecryptable(scheduler.Stored{Key: k, Data: st.Data}) {
			note(sealed, "source "+sourceName(st), err).Sources++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	found := make([]Undecryptable, 0, len(byKey))
	for _, u := range byKey {
		found = append(found, *u)
	}
	sort.Slice(found, func(i, j int) bool { return found[i].Key < found[j].Key })
	return found, nil
}

// undecryptable returns the secrets of a stored job that cannot be opened, one per key, with the reason.
func (v *Vault) undecryptable(st scheduler.Stored) map[string]error {
	_, properties, err := scheduler.SplitStored(st.Data)
	if err != nil || !document.MayHoldSealed(properties) {
		return nil
	}
	tree, err := document.Parse(properties)
	if err != nil {
		return nil // the consistency check reports it
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
