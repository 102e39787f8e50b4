package tokens

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/jobcache"
)

// Keeper creates, verifies and revokes tokens. [Keeper.Run] keeps its cache current; while Run is not running or its
// watch is down, Keeper reads the store on each call. It is safe for concurrent use.
type Keeper struct {
	bucket scheduler.Bucket
	ledger scheduler.Bucket
	now    func() time.Time
	secret atomic.Pointer[[]byte] // the MAC key, once read
	mirror *jobcache.Mirror[string, *stored]

	stands atomic.Bool // the watch is up and has delivered all tokens
	some   atomic.Bool // a token has been seen; never reset
}

// NewKeeper returns a keeper for the tokens in bucket. The ledger is another bucket, which holds the MAC key and the
// ids of revoked tokens. now is the store's clock, which decides about expiry. NewKeeper does no I/O.
func NewKeeper(bucket, ledger scheduler.Bucket, now func() time.Time) *Keeper {
	k := &Keeper{bucket: bucket, ledger: ledger, now: now}
	k.mirror = jobcache.New(jobcache.Config[string, *stored]{Watch: k.watch, Load: k.load, Decode: decode})
	return k
}

// Run watches the tokens until ctx is done. It calls lost when the watch fails, and retries.
func (k *Keeper) Run(ctx context.Context, lost func(error)) { k.mirror.Run(ctx, lost) }

// watch watches the bucket and maintains stands and some.
func (k *Keeper) watch(ctx context.Context, ready func(), changed func(id string, revision uint64, data []byte)) error {
	defer k.stands.Store(false)
	return k.bucket.Watch(ctx, func() {
		ready()
		_, err := k.look(ctx)
		k.stands.Store(err == nil)
	}, func(id string, revision uint64, data []byte) {
		if data != nil {
			k.some.Store(true)
		}
		changed(id, revision, data)
	})
}

func (k *Keeper) load(ctx context.Context, id string) (*stored, error) {
	st, err := k.bucket.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	return decode(id, st.Revision, st.Data)
}

// errFound stops an iteration.
var errFound = errors.New("found")

// Any reports whether a token exists or has ever existed. An open scheduler requires tokens from then on.
func (k *Keeper) Any(ctx context.Context) (bool, error) {
	stands := k.stands.Load() // read before some, which the watch sets first
	if k.some.Load() || stands {
		return k.some.Load(), nil
	}
	return k.look(ctx)
}

// look checks the ledger, then the bucket: tokens without a ledger are invalid, but they do not open the scheduler
// either.
func (k *Keeper) look(ctx context.Context) (bool, error) {
	_, err := k.ledger.Load(ctx, keyEntry)
	if errors.Is(err, scheduler.ErrNotFound) {
		err = k.bucket.Each(ctx, func(scheduler.Stored) error { return errFound })
		if err == nil {
			return false, nil
		}
	}
	if err != nil && !errors.Is(err, errFound) {
		return false, err
	}
	k.some.Store(true)
	return true, nil
}

// Familiar reports whether text has the id of a cached token. It does not read the store.
func (k *Keeper) Familiar(text string) bool {
	id, ok := read(text)
	if ok {
		_, ok = k.mirror.Peek(id)
	}
	return ok
}

// Verify returns the token with the given text. An [*auth.Unknown] error means that the token is invalid; its reason
// contains only facts that the token's owner knows. Other errors come from the store.
func (k *Keeper) Verify(ctx context.Context, text string) (*Token, error) {
	id, ok := read(text)
	if !ok {
		return nil, &auth.Unknown{Reason: "this is not a token of a scheduler: it is cut off, or mistyped"}
	}
	s, err := k.mirror.Current(ctx, id, 0)
	switch {
	case errors.Is(err, scheduler.ErrNotFound):
		return nil, &auth.Unknown{Reason: "this scheduler has no such token"}
	case s != nil && s.Problem != "":
		return nil, &auth.Unknown{Reason: s.Problem}
	case err != nil:
		return nil, err
	case !s.Revoked.IsZero(): // a revoked token has no hash
		return nil, &auth.Unknown{Reason: refusal(&s.Token, k.now())}
	case subtle.ConstantTimeCompare([]byte(hash(text)), []byte(s.Hash)) != 1:
		return nil, &auth.Unknown{Reason: "this scheduler has no such token"}
	}
	if reason := refusal(&s.Token, k.now()); reason != "" {
		return nil, &auth.Unknown{Reason: reason}
	}
	switch problem, err := k.check(ctx, s); {
	case err != nil:
		return nil, err
	case problem != "":
		return nil, &auth.Unknown{Reason: problem}
	}
	return &s.Token, nil
}

// maxTokens is the maximum number of tokens, because each process reads all of them when it starts.
const maxTokens = 10_000

// Create creates a token from a request body. It returns the token and its text, which cannot be retrieved again.
// ErrInvalid lists all problems; ErrConflict means that the limit of tokens is reached.
func (k *Keeper) Create(ctx context.Context, body []byte) (t *Token, text string, err error) {
	now := k.now()
	s, err := request(body, now)
	if err != nil {
		return nil, "", err
	}
	over, err := k.count(ctx, now)
	if err != nil {
		return nil, "", err
	}
	s.ID, text = newText()
	s.Hash = hash(text)
	data, err := k.sign(ctx, s)
	if err != nil {
		return nil, "", err
	}
	revision, err := k.bucket.Save(ctx, s.ID, data, 0)
	if err != nil {
		return nil, "", fmt.Errorf("token %s: %w", s.ID, err)
	}
	k.some.Store(true)
	k.mirror.Note(s.ID, revision, data)
	for _, old := range over { // only now that another token exists
		_ = k.bucket.Remove(ctx, old.ID, old.revision) // the next Create retries
	}
	return &s.Token, text, nil
}

// count returns the tokens whose retention has passed. It fails if at least maxTokens others exist.
func (k *Keeper) count(ctx context.Context, now time.Time) (over []*stored, err error) {
	n := 0
	err = k.bucket.Each(ctx, func(st scheduler.Stored) error {
		s, err := decode(st.Key.Job, st.Revision, st.Data)
		if err == nil && past(&s.Token, now) {
			over = append(over, s)
			return nil
		}
		n++ // includes damaged tokens, which stay visible
		return nil
	})
	if err == nil && n >= maxTokens {
		err = fmt.Errorf("%w: the limit of %d tokens is reached; revoked and expired tokens are removed after a month",
			scheduler.ErrConflict, n)
	}
	return over, err
}

// List returns all tokens, newest last. A damaged token has a Problem.
func (k *Keeper) List(ctx context.Context) ([]*Token, error) {
	all := []*Token{}
	err := k.bucket.Each(ctx, func(st scheduler.Stored) error {
		s, err := decode(st.Key.Job, st.Revision, st.Data)
		if err == nil && s.Revoked.IsZero() {
			if s.Problem, err = k.check(ctx, s); err != nil {
				return err
			}
		}
		all = append(all, &s.Token) // on an error it has a Problem
		return nil
	})
	slices.SortFunc(all, func(a, b *Token) int {
		if c := a.Created.Compare(b.Created); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return all, err
}

// casTries is the maximum number of attempts of a write that loses against concurrent writers.
const casTries = 10

// Revoke revokes a token. It does nothing if the token is already revoked, and returns ErrNotFound if the id is
// unknown.
func (k *Keeper) Revoke(ctx context.Context, id string) (*Token, error) {
	if !WellFormed(id) {
		return nil, fmt.Errorf("token %s: %w", id, scheduler.ErrNotFound)
	}
	for range casTries {
		s, err := k.load(ctx, id)
		if s == nil {
			return nil, fmt.Errorf("token %s: %w", id, err)
		}
		_, err = k.ledger.Save(ctx, revokedEntry(id), []byte("revoked"), 0) // first, to invalidate copies of the token
		if err != nil && !errors.Is(err, scheduler.ErrConflict) {
			return nil, fmt.Errorf("token %s: %w", id, err)
		}
		if !s.Revoked.IsZero() {
			return &s.Token, nil
		}
		s.Revoked, s.Hash, s.Problem = k.now().UTC(), "", "" // also of a damaged token
		data, err := k.sign(ctx, s)
		if err != nil {
			return nil, err
		}
		revision, err := k.bucket.Save(ctx, id, data, s.revision)
		if err == nil {
			k.mirror.Note(id, revision, data)
			return &s.Token, nil
		}
		if !errors.Is(err, scheduler.ErrConflict) {
			return nil, fmt.Errorf("token %s: %w", id, err)
		}
	}
	return nil, fmt.Errorf("token %s: %w: other clients keep changing it; try again", id, scheduler.ErrConflict)
}

// keyEntry is the ledger entry with the MAC key. Its existence means that tokens exist or existed.
const keyEntry = "token-key"

const keyBytes = 32

// revokedEntry is the permanent ledger entry of a revoked token.
func revokedEntry(id string) string { return "token-revoked-" + id }

// errKey means that the MAC key is damaged.
var errKey = errors.New("the entry " + keyEntry + " of the settings is damaged: an operator makes new tokens on NATS, " +
	"with \"carillon token create --nats-url\"")

// key returns the key of the MACs. With create it replaces a missing or damaged key, which invalidates all tokens made
// with another key.
func (k *Keeper) key(ctx context.Context, create bool) ([]byte, error) {
	if key := k.secret.Load(); key != nil {
		return *key, nil
	}
	st, err := k.ledger.Load(ctx, keyEntry)
	for create && (errors.Is(err, scheduler.ErrNotFound) || err == nil && len(st.Data) != keyBytes) {
		fresh := make([]byte, keyBytes)
		_, _ = rand.Read(fresh) // never fails
		if _, err = k.ledger.Save(ctx, keyEntry, fresh, st.Revision); err == nil {
			st.Data = fresh
		} else if errors.Is(err, scheduler.ErrConflict) { // another process has created it; a read may still miss it
			st, err = k.ledger.Load(ctx, keyEntry)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case len(st.Data) != keyBytes:
		return nil, errKey
	}
	k.secret.Store(&st.Data)
	return st.Data, nil
}

// sign returns the stored form of a token, with its MAC.
func (k *Keeper) sign(ctx context.Context, s *stored) ([]byte, error) {
	key, err := k.key(ctx, true)
	if err != nil {
		return nil, fmt.Errorf("the key of the access tokens: %w", err)
	}
	s.MAC = s.sum(key)
	return json.Marshal(s)
}

// Sign returns a stored token of a backup, signed with this store's key. A damaged token stays damaged. With create,
// Sign makes a missing key; without it, it returns the token unchanged.
func (k *Keeper) Sign(ctx context.Context, id string, data []byte, create bool) ([]byte, error) {
	s, err := decode(id, 0, data)
	if err != nil {
		return data, nil //nolint:nilerr // nobody can use it
	}
	if _, err := k.key(ctx, create); errors.Is(err, scheduler.ErrNotFound) && !create {
		return data, nil
	}
	return k.sign(ctx, s)
}

// check returns why a stored token is invalid, or "". A token written by another program has a wrong MAC. An old copy
// of a revoked token has a valid MAC, but the ledger records its revocation.
func (k *Keeper) check(ctx context.Context, s *stored) (problem string, err error) {
	if s.sound.Load() {
		return "", nil
	}
	key, err := k.key(ctx, false)
	switch {
	case errors.Is(err, scheduler.ErrNotFound), errors.Is(err, errKey):
		key = nil
	case err != nil:
		return "", err
	}
	if key == nil || !hmac.Equal([]byte(s.MAC), []byte(s.sum(key))) {
		return "this token cannot be verified: something else than a scheduler has changed the stored tokens, " +
			"or their key; make a new token", nil
	}
	if _, err := k.ledger.Load(ctx, revokedEntry(s.ID)); err == nil {
		return "this token was revoked", nil
	} else if !errors.Is(err, scheduler.ErrNotFound) {
		return "", err
	}
	s.sound.Store(true)
	return "", nil
}
