package scheduler

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
)

// VaultConfig says what a vault works with. Store is required.
type VaultConfig struct {
	Store interface {
		SecretStore
		SecretLister
	}

	// Keys seal and open. Default: none; secrets are then refused, and those
	// that are stored stay locked.
	Keys *seal.Keyring
}

// Vault seals the secrets of jobs on their way to the store and opens them on
// the way back, and it finds shared secrets by name. One serves a process, its
// service and its worker; it is safe for concurrent use.
//
// [Service.Run] keeps it informed of changes. While that does not run, or has
// lost its watch, shared secrets are read from the store each time.
type Vault struct {
	keys  *seal.Keyring
	store SecretStore
	list  SecretLister

	mu       sync.RWMutex
	watching bool // a watch is being set up, or stands: it will tell of every change
	live     bool // the watch stands, and has told of all that there are
	byName   map[string]sharedEntry
}

// sharedEntry is what is known of a shared secret.
type sharedEntry struct {
	revision uint64
	data     []byte // as it is stored; nil: deleted
}

// NewVault returns a vault. It does no I/O.
func NewVault(cfg VaultConfig) *Vault {
	return &Vault{keys: cfg.Keys, store: cfg.Store, list: cfg.Store, byName: map[string]sharedEntry{}}
}

// noKey is what is wrong with a secret when there is nothing to seal it with.
const noKey = "this scheduler has no key to seal secrets with; start it with --secret-key-file"

// jobPlace is what a secret of a job is sealed for.
func jobPlace(k Key, path string) string { return "job " + k.String() + " " + path }

// sharedPlace is what a shared secret is sealed for.
func sharedPlace(name string) string { return "secret " + name }

// keyring returns the keys; a nil vault has none.
func (v *Vault) keyring() *seal.Keyring {
	if v == nil {
		return nil
	}
	return v.keys
}

// seal returns the properties of a definition as they are stored. Secrets that
// could not be opened go back as they came.
func (v *Vault) seal(k Key, d *Definition) (document.Value, error) {
	if !d.secrets {
		return d.properties, nil
	}
	return v.sealTree(k, d.properties)
}

func (v *Vault) sealTree(k Key, properties document.Value) (document.Value, error) {
	return properties.Seal("", func(path, text string) (string, error) {
		sealed, err := v.keyring().Seal(jobPlace(k, path), text)
		if errors.Is(err, seal.ErrNoKey) {
			err = Invalid(path, noKey)
		}
		return sealed, err
	})
}

// unseal opens the secrets of stored properties as far as there are keys.
func (v *Vault) unseal(k Key, properties document.Value) document.Value {
	return properties.Unseal("", func(path, sealed string) (string, error) {
		return v.keyring().Open(jobPlace(k, path), sealed)
	})
}

// check reports what cannot be kept of the secrets of a job that is written: a
// secret without a key to seal it with, and the name of a shared one that is
// not there. o is the object that the properties were read from. The error is
// the store's.
func (v *Vault) check(ctx context.Context, o *document.Object, properties document.Value) error {
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
		if ValidateName("secret", ref.Name) != nil { // it may be the secret itself, so it is not repeated
			r.Problem(ref.Path, "is not a name: a letter, then letters, digits, - and _, at most %d in all", MaxName)
			continue
		}
		_, err := v.load(ctx, ref.Name)
		if errors.Is(err, ErrNotFound) {
			r.Problem(ref.Path, `no shared secret is called %q; "carillon secrets set %s" makes it`, ref.Name, ref.Name)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// lookupTimeout bounds how long an attempt waits for a shared secret that must
// be read from the store.
const lookupTimeout = 5 * time.Second

// Shared returns the text of a shared secret as it is now. It waits no longer
// than ctx, of an attempt. The error is one for the attempt's message, which
// names the secret already.
func (v *Vault) Shared(ctx context.Context, name string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	st, err := v.load(ctx, name)
	if errors.Is(err, ErrNotFound) {
		return "", errNoShared
	}
	if err != nil {
		return "", err
	}
	s, err := decodeShared(name, st.data)
	if err != nil {
		return "", err
	}
	return s.open(v.keys)
}

// errNoShared is why a job that names a deleted secret fails.
var errNoShared = errors.New(`there is none of that name; set it with "carillon secrets set"`)

// load returns a shared secret as it is stored, from the store unless the watch
// stands. One that the watch has not told of is looked for: it may be new.
func (v *Vault) load(ctx context.Context, name string) (sharedEntry, error) {
	v.mu.RLock()
	e, live := v.byName[name], v.live
	v.mu.RUnlock()
	if live && e.data != nil {
		return e, nil
	}
	st, err := v.store.LoadSecret(ctx, name)
	return sharedEntry{st.Revision, st.Data}, err
}

// watch follows the changes of shared secrets until ctx is done.
func (v *Vault) watch(ctx context.Context, lost func(error)) {
	for ctx.Err() == nil {
		v.watched(true, false)
		err := v.list.WatchSecrets(ctx, func() { v.watched(true, true) }, v.changed)
		v.watched(false, false)
		if ctx.Err() != nil {
			return
		}
		lost(err)
		pause(ctx, time.Second)
	}
}

// watched notes how it stands with the watch. Without one nothing is kept in
// mind: nobody would tell when it changes.
func (v *Vault) watched(watching, live bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.watching, v.live = watching, live
	if !watching {
		clear(v.byName)
	}
}

// changed notes a shared secret as it is now; data is nil for a deleted one.
func (v *Vault) changed(name string, revision uint64, data []byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.watching && v.byName[name].revision <= revision {
		v.byName[name] = sharedEntry{revision, data}
	}
}
