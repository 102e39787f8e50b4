package secrets

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/jobcache"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
)

// Config configures a [Vault].
type Config struct {
	// Store holds the shared secrets. It is required for everything but sealing.
	Store scheduler.Bucket

	// Keys seal and open. Default: none; new secrets are then refused, and stored ones stay locked.
	Keys *seal.Keyring
}

// Vault seals the secrets of jobs before they are stored, opens them after they are read, and resolves shared secrets
// by name. A process has one, shared by its service and its worker. It is safe for concurrent use. A nil Vault has no
// keys.
//
// [Vault.Run] watches for changes. Without a watch, shared secrets are read from the store each time.
type Vault struct {
	keys   *seal.Keyring
	store  scheduler.Bucket
	shared *jobcache.Mirror[string, scheduler.Stored] // as they are stored
}

var _ scheduler.Sealer = (*Vault)(nil)

// NewVault returns a vault. It does no I/O.
func NewVault(cfg Config) *Vault {
	v := &Vault{keys: cfg.Keys, store: cfg.Store}
	if cfg.Store == nil {
		return v
	}
	v.shared = jobcache.New(jobcache.Config[string, scheduler.Stored]{
		Watch: cfg.Store.Watch, Load: cfg.Store.Load,
		Decode: func(name string, revision uint64, data []byte) (scheduler.Stored, error) {
			return scheduler.Stored{Key: scheduler.Key{Job: name}, Revision: revision, Data: data}, nil
		},
	})
	return v
}

// Run watches the shared secrets until ctx is done. If it loses its watch, it calls lost and retries. A process may run
// it several times.
func (v *Vault) Run(ctx context.Context, lost func(error)) { v.shared.Run(ctx, lost) }

// noKey is the problem of a secret in a process without a key.
const noKey = "this scheduler has no key to seal secrets with; start it with --secret-key-file"

// jobPlace returns the place to which a job's secret is bound.
func jobPlace(k scheduler.Key, path string) string { return "job " + k.String() + " " + path }

// sharedPlace returns the place to which a shared secret is bound.
func sharedPlace(name string) string { return "secret " + name }

// keyring returns the keys; a nil vault has none.
func (v *Vault) keyring() *seal.Keyring {
	if v == nil {
		return nil
	}
	return v.keys
}

// Seal returns the properties of a job in stored form. Locked secrets keep their sealed text. The error is ErrInvalid
// if the process has no key.
func (v *Vault) Seal(k scheduler.Key, properties document.Value) (document.Value, error) {
	return properties.Seal("", func(path, text string) (string, error) {
		sealed, err := v.keyring().Seal(jobPlace(k, path), text)
		if errors.Is(err, seal.ErrNoKey) {
			err = scheduler.Invalid(path, noKey)
		}
		return sealed, err
	})
}

// Unseal opens the secrets of stored properties for which it has the key.
func (v *Vault) Unseal(k scheduler.Key, properties document.Value) document.Value {
	return properties.Unseal("", func(path, sealed string) (string, error) {
		return v.keyring().Open(jobPlace(k, path), sealed)
	})
}

// Check reports problems with the secrets of a job that a client writes: a secret without a key to seal it, or a
// reference to a missing shared secret. The problems go to the reader of o, the object of the properties. The error is
// the store's.
func (v *Vault) Check(ctx context.Context, o *document.Object, properties document.Value) error {
	r := o.Reader()
	if path, reserved := properties.Reserved(); reserved {
		o.Problem(path, "a member must not have this name, which the store keeps for itself")
	}
	if v.keyring().First() == "" && r.HasSecrets() {
		open, _ := properties.SecretPaths()
		for _, path := range open {
			o.Problem(path, "%s", noKey)
		}
	}
	for _, ref := range r.SecretRefs() {
		if scheduler.ValidateName("secret", ref.Name) != nil { // it may be the secret itself, so it is not quoted
			const message = "is not a name: a letter, then letters, digits, - and _, at most %d in all"
			r.Problem(ref.Path, message, scheduler.MaxName)
			continue
		}
		_, err := v.shared.Current(ctx, ref.Name, 0)
		if errors.Is(err, scheduler.ErrNotFound) {
			r.Problem(ref.Path, `no shared secret is called %q; "carillon secrets set %s" makes it`, ref.Name, ref.Name)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// lookupTimeout is how long an attempt waits for a shared secret from the store.
const lookupTimeout = 5 * time.Second

// errNoShared is the failure of a job that refers to a deleted secret.
var errNoShared = errors.New(`there is none of that name; set it with "carillon secrets set"`)

// Shared returns the current text of a shared secret. It waits until the attempt's ctx is done, at most five seconds.
// The error is for the attempt's message, which already names the secret.
func (v *Vault) Shared(ctx context.Context, name string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	st, err := v.shared.Current(ctx, name, 0)
	if errors.Is(err, scheduler.ErrNotFound) {
		return "", errNoShared
	}
	if err != nil {
		return "", err
	}
	s, err := decodeShared(name, st.Data)
	if err != nil {
		return "", err
	}
	return s.open(v.keys)
}
