package tokens_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/auth/tokens"
)

// bucket is an in-memory bucket whose watch can fail.
type bucket struct {
	scheduler.Bucket // unused methods

	mu       sync.Mutex
	values   map[string]scheduler.Stored
	revision uint64
	loads    int
	err      error // of every read
	ledger   *bucket
	watches  map[int]func(string, uint64, []byte)
	lose     chan struct{} // closed: watches fail
}

func newBucket() *bucket {
	b := memory()
	b.ledger = memory()
	return b
}

func keep(b *bucket) *tokens.Keeper { return tokens.NewKeeper(b, b.ledger, time.Now) }

func memory() *bucket {
	return &bucket{values: map[string]scheduler.Stored{}, watches: map[int]func(string, uint64, []byte){}, lose: make(chan struct{})}
}

func (b *bucket) Load(_ context.Context, name string) (scheduler.Stored, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.loads++
	st, ok := b.values[name]
	if b.err != nil || !ok {
		return scheduler.Stored{}, cmpErr(b.err)
	}
	return st, nil
}

func cmpErr(err error) error {
	if err == nil {
		return scheduler.ErrNotFound
	}
	return err
}

func (b *bucket) Save(_ context.Context, name string, data []byte, replaces uint64) (uint64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.values[name].Revision != replaces {
		return 0, scheduler.ErrConflict
	}
	b.revision++
	b.values[name] = scheduler.Stored{Key: scheduler.Key{Job: name}, Revision: b.revision, Data: data}
	b.tell(name, b.revision, data)
	return b.revision, nil
}

func (b *bucket) Remove(_ context.Context, name string, _ uint64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.values, name)
	b.revision++
	b.tell(name, b.revision, nil)
	return nil
}

func (b *bucket) tell(name string, revision uint64, data []byte) {
	for _, changed := range b.watches {
		changed(name, revision, data)
	}
}

func (b *bucket) Each(_ context.Context, f func(scheduler.Stored) error) error {
	b.mu.Lock()
	all, err := slices.Collect(maps.Values(b.values)), b.err
	b.mu.Unlock()
	if err != nil {
		return err
	}
	for _, st := range all {
		if err := f(st); err != nil {
			return err
		}
	}
	return nil
}

func (b *bucket) Watch(ctx context.Context, ready func(), changed func(string, uint64, []byte)) error {
	b.mu.Lock()
	lose, n := b.lose, len(b.watches)
	b.watches[n] = changed
	for name, st := range b.values {
		changed(name, st.Revision, st.Data)
	}
	b.mu.Unlock()
	ready()
	select {
	case <-ctx.Done():
	case <-lose:
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.watches, n)
	return errors.New("lost")
}

// create creates a token.
func create(t *testing.T, k *tokens.Keeper, body string) (*tokens.Token, string) {
	t.Helper()
	token, text, err := k.Create(t.Context(), []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return token, text
}

const operator = `{"name": "ci", "grants": [{"role": "operator", "collections": ["partners"]}, {"role": "Reader"}]}`

// TestStoresClock: tokens are created, expire and are revoked by the store's clock, even if the local clock is an hour
// off.
func TestStoresClock(t *testing.T) {
	for _, ahead := range []time.Duration{-time.Hour, time.Hour} {
		b, now := newBucket(), time.Now().Add(ahead)
		k := tokens.NewKeeper(b, b.ledger, func() time.Time { return now })
		body := fmt.Sprintf(`{"expires": %q, "grants": [{"role": "reader"}]}`, now.Add(time.Minute).Format(time.RFC3339Nano))
		made, text := create(t, k, body)
		if _, err := k.Verify(t.Context(), text); err != nil || !made.Created.Equal(now) {
			t.Errorf("%s ahead: created %s, %v", ahead, made.Created, err)
		}
		now = now.Add(2 * time.Minute)
		if _, err := k.Verify(t.Context(), text); !isUnknown(err, "expired") {
			t.Errorf("%s ahead: after its end: %v", ahead, err)
		}
		if revoked, err := k.Revoke(t.Context(), made.ID); err != nil || !revoked.Revoked.Equal(now) {
			t.Errorf("%s ahead: revoked at %s, %v", ahead, revoked.Revoked, err)
		}
	}
}

// TestToken accepts a created token and rejects similar texts.
func TestToken(t *testing.T) {
	b := newBucket()
	k := keep(b)
	made, text := create(t, k, operator)
	if !regexp.MustCompile(`^crl_[a-z2-7]{10}_[0-9A-Za-z]{49}$`).MatchString(text) || !strings.Contains(text, made.ID) {
		t.Errorf("the token is %s, its id %s", text, made.ID)
	}
	stored := string(b.values[made.ID].Data)
	if secret := text[15:]; strings.Contains(stored, secret) || strings.Contains(stored, secret[:20]) {
		t.Errorf("the store has the token: %s", stored)
	}
	token, err := k.Verify(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	p := tokens.Principal(token, "192.0.2.1")
	if got, want := fmt.Sprint(p, p.Grants, p.ID == made.ID, p.Address), "token ci [operator@partners reader] true192.0.2.1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	_, other := create(t, keep(newBucket()), operator)
	loads := b.loads
	for _, wrong := range []string{
		"", "crl_", text[:len(text)-1], text + "x", text[:20] + "!" + text[21:], strings.ToUpper(text), flip(text), "crl_" + text,
	} {
		if _, err := k.Verify(t.Context(), wrong); !isUnknown(err, "cut off, or mistyped") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	if b.loads != loads {
		t.Error("the store was asked for what is no token")
	}
	if _, err := k.Verify(t.Context(), other); !isUnknown(err, "no such token") {
		t.Errorf("that of another scheduler: %v", err)
	}
}

// TestTokenWithAnothersID rejects a token with the id of another one: the id is not secret.
func TestTokenWithAnothersID(t *testing.T) {
	a, b := newBucket(), newBucket()
	own, foreign := keep(a), keep(b)
	made, _ := create(t, foreign, operator)
	_, text := create(t, own, operator)
	var renamed map[string]any
	id := strings.Split(text, "_")[1]
	if err := json.Unmarshal(b.values[made.ID].Data, &renamed); err != nil {
		t.Fatal(err)
	}
	renamed["id"] = id
	data, err := json.Marshal(renamed)
	if err != nil {
		t.Fatal(err)
	}
	b.values[id] = scheduler.Stored{Key: scheduler.Key{Job: id}, Revision: 9, Data: data}
	if _, err := foreign.Verify(t.Context(), text); !isUnknown(err, "no such token") {
		t.Error(err)
	}
}

// flip changes one character of a token's secret.
func flip(text string) string {
	c := byte('a')
	if text[30] == c {
		c = 'b'
	}
	return text[:30] + string(c) + text[31:]
}

func isUnknown(err error, reason string) bool {
	unknown, ok := errors.AsType[*auth.Unknown](err)
	return ok && strings.Contains(unknown.Reason, reason)
}

// TestTokenEnds: an expired or revoked token is refused, also in another process.
func TestTokenEnds(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := newBucket()
		here, there := keep(b), keep(b)
		ctx, cancel := context.WithCancel(t.Context())
		for _, k := range []*tokens.Keeper{here, there} {
			go k.Run(ctx, func(error) {})
		}
		defer func() { cancel(); synctest.Wait() }()
		synctest.Wait()
		for _, k := range []*tokens.Keeper{here, there} {
			if open, err := k.Any(t.Context()); open || err != nil {
				t.Error("there is a token before the first:", err)
			}
		}
		body := fmt.Sprintf(`{"expires": %q, "grants": [{"role": "reader"}]}`, time.Now().Add(time.Hour).Format(time.RFC3339))
		made, text := create(t, here, body)
		_, lasting := create(t, here, operator)
		takes := func(text, refusal string) {
			t.Helper()
			for _, k := range []*tokens.Keeper{here, there} {
				if _, err := k.Verify(t.Context(), text); (err == nil) != (refusal == "") || err != nil && !isUnknown(err, refusal) {
					t.Errorf("got %v, want %q", err, refusal)
				}
				if _, err := k.Any(t.Context()); err != nil || !k.Familiar(text) {
					t.Error("it is not known:", err)
				}
			}
		}
		takes(text, "")
		time.Sleep(time.Hour)
		takes(text, "expired at 2000-01-01T01:00:00Z")
		takes(lasting, "")
		loads := b.loads
		if loads != 0 {
			t.Errorf("the store was asked %d times while a watch stood", loads)
		}
		id := strings.Split(lasting, "_")[1]
		if revoked, err := there.Revoke(t.Context(), id); err != nil || revoked.Revoked.IsZero() {
			t.Error(revoked, err)
		}
		takes(lasting, "was revoked")
		if strings.Contains(string(b.values[id].Data), `"hash"`) {
			t.Error("the hash of a revoked token stays")
		}
		again, err := here.Revoke(t.Context(), id)
		if err != nil || !again.Revoked.Equal(time.Now().UTC()) {
			t.Error(again, err)
		}
		if _, err := here.Revoke(t.Context(), "none"); !errors.Is(err, scheduler.ErrNotFound) {
			t.Error(err)
		}
		time.Sleep(31 * 24 * time.Hour)
		create(t, here, operator)
		if _, ok := b.values[made.ID]; ok || len(b.values) != 1 {
			t.Errorf("what is long over stays: %v", b.values)
		}
	})
}

// TestTokenWithoutWatch: a token revoked elsewhere is refused while the watch is down, and if the store does not
// answer, all requests are.
func TestTokenWithoutWatch(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := newBucket()
		k := keep(b)
		ctx, cancel := context.WithCancel(t.Context())
		defer func() { cancel(); synctest.Wait() }()
		go k.Run(ctx, func(error) {})
		synctest.Wait()
		made, text := create(t, keep(b), operator)
		if _, err := k.Verify(t.Context(), text); err != nil {
			t.Error(err)
		}
		close(b.lose)
		synctest.Wait()
		if _, err := keep(b).Revoke(t.Context(), made.ID); err != nil {
			t.Error(err)
		}
		if _, err := k.Verify(t.Context(), text); !isUnknown(err, "was revoked") {
			t.Errorf("got %v", err)
		}
		b.mu.Lock()
		b.err = scheduler.ErrUnavailable
		b.mu.Unlock()
		if _, err := k.Verify(t.Context(), text); !errors.Is(err, scheduler.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
		b.ledger.err = scheduler.ErrUnavailable
		if _, err := keep(b).Any(t.Context()); err == nil {
			b.mu.Lock()
			t.Error("a store that does not answer has no tokens", len(b.values))
			b.mu.Unlock()
		}
	})
}

// TestRevokedTokensKeepTheDoorShut: a scheduler that requires tokens still does when all are revoked, even if it starts
// later.
func TestRevokedTokensKeepTheDoorShut(t *testing.T) {
	b := newBucket()
	k := keep(b)
	if some, err := k.Any(t.Context()); some || err != nil {
		t.Error(some, err)
	}
	made, _ := create(t, k, operator)
	if _, err := k.Revoke(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	if some, err := keep(b).Any(t.Context()); !some || err != nil {
		t.Error(some, err)
	}
}

// TestTokenRequests checks the problems of invalid requests.
func TestTokenRequests(t *testing.T) {
	k := keep(newBucket())
	for body, want := range map[string]string{
		`{}`:                              "grants: ",
		`{"grants": []}`:                  "grants: has 0 grants",
		`{"grants": [{}]}`:                "grants[0].role: ",
		`{"grants": [{"role": "owner"}]}`: "grants[0].role: ",
		`{"grants": [{"role": "admin", "who": 1}]}`:                "grants[0].who: unknown field",
		`{"grants": [{"role": "admin", "collections": []}]}`:       "grants[0].collections: has 0 names",
		`{"grants": [{"role": "admin", "collections": ["a b"]}]}`:  `grants[0].collections[0]: "a b" must not contain`,
		`{"name": "a b", "grants": [{"role": "admin"}]}`:           `name: "a b" must not contain`,
		`{"expires": "2001-01-01", "grants": [{"role": "admin"}]}`: "expires: is in the past",
		`{"expires": "soon", "grants": [{"role": "admin"}]}`:       "expires: ",
		`{"id": "x", "grants": [{"role": "admin"}]}`:               "id: unknown field",
		`[]`: "",
	} {
		_, _, err := k.Create(t.Context(), []byte(body))
		if !errors.Is(err, scheduler.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", body, err, want)
		}
	}
	document, err := json.Marshal(v1.TokenRequest{Name: "ci", Grants: []auth.Grant{{Role: auth.Operator, Collections: []string{"a", "b"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if made, _ := create(t, k, string(document)); fmt.Sprint(made.Name, made.Grants, made.Expires.IsZero()) != "ci[operator@a,b] true" {
		t.Errorf("%+v", made)
	}
}

// TestDamagedToken: a damaged token is listed, can be revoked, and is refused.
func TestDamagedToken(t *testing.T) {
	b := newBucket()
	k := keep(b)
	made, text := create(t, k, operator)
	b.values[made.ID] = scheduler.Stored{Key: scheduler.Key{Job: made.ID}, Revision: 1, Data: []byte(`{"id": 5`)}
	if _, err := k.Verify(t.Context(), text); !isUnknown(err, "cannot be read") {
		t.Error(err)
	}
	all, err := k.List(t.Context())
	if err != nil || len(all) != 1 || all[0].ID != made.ID || all[0].Problem == "" || all[0].Grants != nil {
		t.Error(all, err)
	}
	if revoked, err := k.Revoke(t.Context(), made.ID); err != nil || revoked.Revoked.IsZero() {
		t.Error(revoked, err)
	}
	if all, err = k.List(t.Context()); err != nil || all[0].Problem != "" || all[0].Revoked.IsZero() {
		t.Error(all, err)
	}
}

// TestTokensAreAuthenticated changes stored tokens directly: forged, changed and restored tokens are refused, and an
// empty bucket does not open the scheduler. A new token works after each change.
func TestTokensAreAuthenticated(t *testing.T) {
	admin := func(text string) []byte { return []byte(strings.ReplaceAll(text, "operator", "admin")) }
	for name, test := range map[string]struct {
		damage func(b *bucket, id string, old scheduler.Stored)
		want   string
	}{
		"changed":     {func(b *bucket, id string, old scheduler.Stored) { b.put(id, admin(string(old.Data))) }, "cannot be verified"},
		"without MAC": {func(b *bucket, id string, old scheduler.Stored) { b.put(id, bare(t, old.Data)) }, "cannot be verified"},
		"revoked, and an old copy": {func(b *bucket, id string, old scheduler.Stored) {
			if _, err := keep(b).Revoke(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			b.put(id, old.Data)
		}, "revoked"},
		"emptied":     {func(b *bucket, _ string, _ scheduler.Stored) { clear(b.values) }, "no such token"},
		"without key": {func(b *bucket, _ string, _ scheduler.Stored) { clear(b.ledger.values) }, "cannot be verified"},
		"damaged key": {func(b *bucket, _ string, _ scheduler.Stored) { b.ledger.put("token-key", []byte("short")) }, "cannot be verified"},
		"key of a store": {func(b *bucket, _ string, _ scheduler.Stored) {
			other := newBucket()
			create(t, keep(other), operator)
			b.ledger = other.ledger
		}, "cannot be verified"},
	} {
		b := newBucket()
		made, text := create(t, keep(b), operator)
		if _, err := keep(b).Verify(t.Context(), text); err != nil {
			t.Fatalf("%s: before: %v", name, err)
		}
		test.damage(b, made.ID, b.values[made.ID])
		if _, err := keep(b).Verify(t.Context(), text); !isUnknown(err, test.want) {
			t.Errorf("%s: got %v, want %s", name, err, test.want)
		}
		if some, err := keep(b).Any(t.Context()); !some || err != nil {
			t.Errorf("%s: the scheduler asks for a token: %t, %v", name, some, err)
		}
		if all, err := keep(b).List(t.Context()); err != nil || len(all) > 0 && all[0].Problem == "" {
			t.Errorf("%s: the list has %+v, %v", name, all, err)
		}
		k := keep(b)
		if _, text = create(t, k, operator); text == "" {
			t.Fatal("no token")
		}
		if _, err := keep(b).Verify(t.Context(), text); err != nil {
			t.Errorf("%s: a new token: %v", name, err)
		}
	}
}

// put writes a value without the keeper.
func (b *bucket) put(name string, data []byte) {
	b.revision++
	b.values[name] = scheduler.Stored{Key: scheduler.Key{Job: name}, Revision: b.revision, Data: data}
}

// bare returns a stored token without its MAC, as another program would write it.
func bare(t *testing.T, data []byte) []byte {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	delete(all, "mac")
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
