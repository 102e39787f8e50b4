package secrets

import (
	"errors"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
)

var demo = scheduler.Key{Collection: "default", Job: "demo"}

// readProperties reads properties with the secrets action.key and action.spare.
func readProperties(t *testing.T, text string) (document.Value, *document.Object) {
	t.Helper()
	v, err := document.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o := document.NewReader().Object(v, "")
	if action, ok := o.Object("action"); ok {
		_, _ = action.Secret("key")
		_, _ = action.Secret("spare")
	}
	return v, o
}

func newVault(t *testing.T, store scheduler.Bucket, ids ...string) *Vault {
	t.Helper()
	cfg := Config{Store: store}
	var keys []seal.Key
	for _, id := range ids {
		k, err := seal.NewKey(id)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, k)
	}
	if len(keys) > 0 {
		cfg.Keys = seal.NewKeyring(keys[0], keys[1:]...)
	}
	return NewVault(cfg)
}

// TestSealAndUnseal shows that secrets go to the store sealed and come back, and that one that cannot be opened goes
// back as it came.
func TestSealAndUnseal(t *testing.T) {
	vault := newVault(t, nil, "k1")
	properties, _ := readProperties(t, `{"action":{"name":"n","key":"s3cret"}}`)
	sealed, err := vault.Seal(demo, properties)
	if err != nil {
		t.Fatal(err)
	}
	text := sealed.String()
	if strings.Contains(text, "s3cret") || !strings.Contains(text, `{"$sealed":"v1.k1.`) {
		t.Errorf("stored as %s", text)
	}
	stored, err := document.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := vault.Unseal(demo, stored); !got.Equal(properties) {
		t.Errorf("opened as %s, %t", got, got.HasLocked())
	}
	others := map[string]*Vault{"another key": newVault(t, nil, "k1"), "no key": newVault(t, nil), "no vault": nil}
	for name, other := range others {
		locked := other.Unseal(demo, stored)
		if !locked.HasLocked() || locked.HasSecrets() {
			t.Errorf("%s: opened", name)
		}
		if again, err := other.Seal(demo, locked); err != nil || again.String() != text {
			t.Errorf("%s: stored again as %s, %v", name, again, err)
		}
	}
	if elsewhere := vault.Unseal(scheduler.Key{Collection: "default", Job: "other"}, stored); elsewhere.HasSecrets() {
		t.Error("it opens in another job")
	}
	for _, without := range []*Vault{newVault(t, nil), nil} {
		_, err := without.Seal(demo, properties)
		if want := "action.key: " + noKey; !errors.Is(err, scheduler.ErrInvalid) || err.Error() != want {
			t.Errorf("without a key: got %v, want %s", err, want)
		}
	}
}

// TestCheck shows what is wrong with the secrets of a job that is written.
func TestCheck(t *testing.T) {
	tests := map[string]struct {
		text string
		keys []string
		want string
	}{
		"a secret": {`{"action": {"key": "s3cret"}}`, []string{"k1"}, ""},
		"without a key": {
			`{"action": {"key": "s3cret", "spare": "x"}}`, nil,
			"action.key: " + noKey + "\naction.spare: " + noKey,
		},
		"nothing without a key": {`{"action": {"name": "n"}}`, nil, ""},
		"a name":                {`{"action": {"key": {"secretRef": "a"}}}`, nil, ""},
		"a name that nobody has": {
			`{"action": {"key": {"secretRef": "b"}}}`, nil,
			`action.key.secretRef: no shared secret is called "b"; "carillon secrets set b" makes it`,
		},
		"no name": {
			`{"action": {"key": {"secretRef": "s3cret!"}}}`, nil,
			"action.key.secretRef: is not a name: a letter, then letters, digits, - and _, at most 100 in all",
		},
		"a member that is refused": {
			`{"action": {"key": "x"}, "labels": {"$sealed": "v1.k1.x"}}`,
			[]string{"k1"},
			"labels.$sealed: a member must not have this name, which the store keeps for itself",
		},
	}
	for name, test := range tests {
		store := newMemory()
		store.breaks("a") // it is there, whatever is in it
		properties, o := readProperties(t, test.text)
		if err := newVault(t, store, test.keys...).Check(t.Context(), o, properties); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := ""
		if err := o.Reader().Err(); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
	store := newMemory()
	store.fails = scheduler.ErrUnavailable
	properties, o := readProperties(t, `{"action": {"key": {"secretRef": "a"}}}`)
	if err := newVault(t, store).Check(t.Context(), o, properties); !errors.Is(err, scheduler.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}
