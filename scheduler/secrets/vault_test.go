package secrets

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
)

// watchStore holds shared secrets as other processes leave them, and a watch that tells of them when the test lets it.
type watchStore struct {
	scheduler.Bucket // for what is not asked here

	secrets map[string]scheduler.Stored
	tell    chan func(ready func(), changed func(string, uint64, []byte)) // closed: the watch is lost
	hangs   bool                                                          // a read does not answer
}

func (s *watchStore) Load(ctx context.Context, name string) (scheduler.Stored, error) {
	if s.hangs {
		<-ctx.Done()
		return scheduler.Stored{}, ctx.Err()
	}
	if st, ok := s.secrets[name]; ok {
		return st, nil
	}
	return scheduler.Stored{}, scheduler.ErrNotFound
}

func (s *watchStore) Save(_ context.Context, name string, data []byte, replaces uint64) (uint64, error) {
	s.secrets[name] = scheduler.Stored{Key: scheduler.Key{Job: name}, Revision: replaces + 1, Data: data}
	return replaces + 1, nil
}

func (s *watchStore) Remove(_ context.Context, name string, _ uint64) error {
	delete(s.secrets, name)
	return nil
}

func (s *watchStore) Each(context.Context, func(scheduler.Stored) error) error { return nil }

func (s *watchStore) Watch(ctx context.Context, ready func(), changed func(string, uint64, []byte)) error {
	for {
		select {
		case f, ok := <-s.tell:
			if !ok {
				return errors.New("lost")
			}
			f(ready, changed)
		case <-ctx.Done():
			return nil
		}
	}
}

// vaultTest is a vault with a watch.
type vaultTest struct {
	*testing.T

	store *watchStore
	vault *Vault
}

func newVaultTest(t *testing.T) *vaultTest {
	k, err := seal.NewKey("k1")
	if err != nil {
		t.Fatal(err)
	}
	store := &watchStore{secrets: map[string]scheduler.Stored{}, tell: make(chan func(func(), func(string, uint64, []byte)))}
	return &vaultTest{t, store, NewVault(Config{Store: store, Keys: seal.NewKeyring(k)})}
}

// written is the secret a as it is stored.
func (t *vaultTest) written(text string) []byte {
	sealed, err := t.vault.keys.Seal(sharedPlace("a"), text)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(storedShared{Sealed: sealed})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// want checks what the vault has for a; "" is none.
func (t *vaultTest) want(want string) {
	t.Helper()
	if got, err := t.vault.Shared(t.Context(), "a"); got != want || (err == nil) != (want != "") {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// TestVaultBeforeTheWatchStands shows that what a watch tells first is believed when it has told everything: until then
// it may speak of what others have changed since.
func TestVaultBeforeTheWatchStands(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		v := newVaultTest(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go v.vault.Run(ctx, func(error) {})
		synctest.Wait()
		v.store.secrets["a"] = scheduler.Stored{Revision: 2, Data: v.written("new")}
		v.store.tell <- func(_ func(), changed func(string, uint64, []byte)) { changed("a", 1, v.written("old")) }
		synctest.Wait()
		v.want("new")
		v.store.tell <- func(ready func(), changed func(string, uint64, []byte)) {
			changed("a", 2, v.written("new"))
			ready()
		}
		synctest.Wait()
		delete(v.store.secrets, "a") // so that only the watch can know it
		v.want("new")
	})
}

// TestVaultWithoutWatch shows that what this process has saved while there was no watch is not believed when there is
// one again: others may have deleted it meanwhile.
func TestVaultWithoutWatch(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		v := newVaultTest(t)
		v.vault.shared.Note("a", 1, v.written("old"))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go v.vault.Run(ctx, func(error) {})
		synctest.Wait()
		v.store.tell <- func(ready func(), _ func(string, uint64, []byte)) { ready() }
		synctest.Wait()
		v.want("")
		v.vault.shared.Note("a", 2, v.written("again"))
		v.want("again")
		close(v.store.tell)
		synctest.Wait()
		v.want("")
	})
}

// TestVaultWaitsForItsAttempt shows that reading a shared secret takes no longer than the attempt that wants it.
func TestVaultWaitsForItsAttempt(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		v := newVaultTest(t)
		v.store.hangs = true
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if _, err := v.vault.Shared(ctx, "a"); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		began = time.Now()
		if _, err := v.vault.Shared(t.Context(), "a"); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != lookupTimeout {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}
