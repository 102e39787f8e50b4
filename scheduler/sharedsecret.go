package scheduler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
)

// SharedSecret is a named secret that jobs refer to, as it is shown: all but
// its text.
type SharedSecret struct {
	Name        string
	Description string
	Created     time.Time
	Updated     time.Time
	Key         string // id of the key that it is sealed with
	Problem     string // why it cannot be read; then nothing else but the name is known
}

// storedShared is a shared secret as it lies in the store.
type storedShared struct {
	name string

	Sealed      string    `json:"sealed"`
	Description string    `json:"description,omitempty"`
	Created     time.Time `json:"created"`
	Updated     time.Time `json:"updated"`
}

// decodeShared reads a shared secret. With an error it has no more than its name.
func decodeShared(name string, data []byte) (*storedShared, error) {
	s := &storedShared{name: name}
	if err := json.Unmarshal(data, s); err != nil {
		return &storedShared{name: name}, fmt.Errorf("what is stored of it cannot be read: %w", err)
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
		Name: s.name, Description: s.Description, Created: s.Created, Updated: s.Updated, Key: seal.KeyID(s.Sealed),
	}
}

// Document returns the secret as every door shows it:
//
//	{"name": "orders-sas", "description": "…", "created": "…", "updated": "…", "key": "2026-03"}
//
// One that cannot be read has a problem and no more.
func (s *SharedSecret) Document() document.Value {
	members := []document.Member{member("name", s.Name)}
	if s.Problem != "" {
		return document.ObjectValue(append(members, member("problem", s.Problem))...)
	}
	if s.Description != "" {
		members = append(members, member("description", s.Description))
	}
	return document.ObjectValue(append(members,
		member("created", s.Created.UTC().Format(time.RFC3339Nano)),
		member("updated", s.Updated.UTC().Format(time.RFC3339Nano)), member("key", s.Key))...)
}

// readShared reads the body of a request to set a secret.
func (v *Vault) readShared(name string, body []byte) (*storedShared, error) {
	if err := CheckSize(len(body)); err != nil {
		return nil, err
	}
	doc, err := document.Parse(body)
	if err != nil {
		return nil, AsInvalid(asProblems(err))
	}
	r := document.NewReader()
	o := r.Object(doc, "")
	s := &storedShared{name: name, Updated: time.Now().UTC()}
	text := readSharedValue(o)
	if d, ok := o.String("description"); ok {
		if len(d) > maxDescription {
			o.Problem("description", "is %d bytes long, at most %d are allowed", len(d), maxDescription)
		}
		s.Description = d
	}
	o.Done()
	if v.keys.First() == "" {
		o.Problem("value", "%s", noKey)
	}
	if err := r.Err(); err != nil {
		return nil, AsInvalid(err)
	}
	s.Sealed, err = v.keys.Seal(sharedPlace(name), text)
	return s, err
}

// readSharedValue reads the text of a shared secret.
func readSharedValue(o *document.Object) string {
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

// PutSecret sets a shared secret to the value in a document
//
//	{"value": "…", "description": "…"}
//
// and returns it without. created tells whether it is new. Jobs that name it
// use the new value from their next attempt on.
//
// Errors: ErrInvalid with every problem, also when there is no key to seal it
// with.
func (s *Service) PutSecret(ctx context.Context, name string, body []byte) (shown *SharedSecret, created bool, err error) {
	if err := ValidateName("secret", name); err != nil {
		return nil, false, err
	}
	next, err := s.secrets.readShared(name, body)
	if err != nil {
		return nil, false, err
	}
	for range casTries {
		st, err := s.store.LoadSecret(ctx, name)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, false, fmt.Errorf("secret %s: %w", name, err)
		}
		next.Created = next.Updated
		if old, err := decodeShared(name, st.Data); err == nil && st.Revision > 0 {
			next.Created = old.Created
		}
		err = s.saveShared(ctx, next, st.Revision)
		if !errors.Is(err, ErrConflict) {
			return next.shown(), st.Revision == 0, err
		}
	}
	return nil, false, fmt.Errorf("secret %s: %w: it was changed by others all the while; try again", name, ErrConflict)
}

func (s *Service) saveShared(ctx context.Context, next *storedShared, replaces uint64) error {
	data, err := json.Marshal(next)
	if err != nil {
		return err
	}
	rev, err := s.store.SaveSecret(ctx, next.name, data, replaces)
	if err != nil {
		return fmt.Errorf("secret %s: %w", next.name, err)
	}
	s.secrets.changed(next.name, rev, data) // the watch will say the same
	return nil
}

// Secrets returns all shared secrets by name, without their values. One that
// cannot be read says so, and can be set anew or deleted.
func (s *Service) Secrets(ctx context.Context) ([]*SharedSecret, error) {
	all := []*SharedSecret{}
	err := s.store.EachSecret(ctx, func(st Stored) error {
		stored, err := decodeShared(st.Key.Job, st.Data)
		shown := stored.shown()
		if err != nil {
			shown.Problem = err.Error()
		}
		all = append(all, shown)
		return nil
	})
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all, err
}

// DeleteSecret deletes a shared secret. ErrNotFound when there is none of that
// name; ErrConflict when jobs that may still run refer to it, unless force is
// set: their attempts fail from then on. A job that is put at the same moment
// is not seen.
func (s *Service) DeleteSecret(ctx context.Context, name string, force bool) error {
	if err := ValidateName("secret", name); err != nil {
		return err
	}
	st, err := s.store.LoadSecret(ctx, name)
	if err != nil {
		return fmt.Errorf("secret %s: %w", name, err)
	}
	if !force {
		if err := s.checkUnused(ctx, name); err != nil {
			return err
		}
	}
	if err := s.store.RemoveSecret(ctx, name, st.Revision); err != nil {
		return fmt.Errorf("secret %s: %w", name, err)
	}
	return nil
}

// namedUsers is how many jobs an error names that refer to a secret.
const namedUsers = 5

// checkUnused returns ErrConflict when jobs refer to a shared secret.
func (s *Service) checkUnused(ctx context.Context, name string) error {
	var mu sync.Mutex
	var users []string
	mark := []byte(`"secretRef":"` + name + `"`)
	err := s.scanJobs(ctx, func(_ context.Context, st Stored) error {
		if !s.refersTo(st, name, mark) {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		users = append(users, st.Key.String())
		return nil
	})
	if err != nil || len(users) == 0 {
		return err
	}
	sort.Strings(users)
	named := strings.Join(users[:min(len(users), namedUsers)], ", ")
	if more := len(users) - namedUsers; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Errorf("secret %s: %w: jobs refer to it: %s", name, ErrConflict, named)
}
