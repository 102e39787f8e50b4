package issuer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// keySet is the cached key set of an issuer.
type keySet struct {
	issuer string
	client *http.Client
	turn   chan struct{} // held during a request to the issuer

	mu    sync.Mutex
	keys  []jose.JSONWebKey
	got   time.Time // time of the last successful request
	asked time.Time // time of the last request
	why   error     // error of the last request
}

var _ oidc.KeySet = (*keySet)(nil)

// The lifetime of keys, and the rate limit of requests to the issuer.
const (
	freshFor  = time.Hour       // a revoked key remains valid this long
	staleFor  = 24 * time.Hour  // if the issuer does not answer
	askEvery  = 5 * time.Second // for unknown keys
	maxKeySet = 1 << 20         // bytes of an answer of the issuer
)

// keysError reports that the keys of an issuer are unavailable.
type keysError struct {
	issuer string
	err    error
}

// Error names the issuer.
func (e *keysError) Error() string {
	return fmt.Sprintf("the keys of the issuer %s cannot be had: %v", e.issuer, e.err)
}

// Unwrap makes it [scheduler.ErrUnavailable].
func (e *keysError) Unwrap() []error { return []error{scheduler.ErrUnavailable, e.err} }

// lackKey is the context key of a keysError, which the verifier would reduce to its text.
type lackKey struct{}

// errNotSigned reports that no key of the issuer matches the signature of a token.
var errNotSigned = errors.New("it is not signed with a key of the issuer")

// VerifySignature returns the payload of a token signed with a key of the issuer. The verifier has already checked its
// algorithm.
func (k *keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	var algorithms []jose.SignatureAlgorithm
	for _, name := range Algorithms() {
		algorithms = append(algorithms, jose.SignatureAlgorithm(name))
	}
	signed, err := jose.ParseSignedCompact(token, algorithms)
	if err != nil {
		return nil, err
	}
	keys, age := k.known()
	if age < freshFor {
		if payload, ok := verified(signed, keys); ok {
			return payload, nil
		}
	}
	failed := k.ask(ctx)
	keys, age = k.known()
	if payload, ok := verified(signed, keys); ok && age < staleFor {
		return payload, nil
	}
	if failed != nil {
		err := &keysError{k.issuer, failed}
		if tell, ok := ctx.Value(lackKey{}).(*error); ok {
			*tell = err
		}
		return nil, err
	}
	return nil, errNotSigned
}

// verified returns the payload of a token signed with one of the keys. If the token names its key, only that key is
// tried.
func verified(signed *jose.JSONWebSignature, keys []jose.JSONWebKey) ([]byte, bool) {
	id := signed.Signatures[0].Header.KeyID // a compact token has one signature
	for _, key := range keys {
		usable := key.IsPublic() && (key.Use == "" || key.Use == "sig") && (id == "" || key.KeyID == "" || key.KeyID == id) &&
			(key.Algorithm == "" || key.Algorithm == signed.Signatures[0].Header.Algorithm)
		if !usable {
			continue
		}
		if payload, err := signed.Verify(key); err == nil {
			return payload, true
		}
	}
	return nil, false
}

// known returns the keys and their age.
func (k *keySet) known() ([]jose.JSONWebKey, time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.got.IsZero() {
		return nil, staleFor
	}
	return k.keys, time.Since(k.got)
}

// ask requests the issuer's keys, unless another request has just done so. It returns the error of the last request.
func (k *keySet) ask(ctx context.Context) error {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	k.mu.Lock()
	recent, why := time.Since(k.asked) < askEvery, k.why
	if !recent {
		k.asked = time.Now()
	}
	k.mu.Unlock()
	if recent {
		return why
	}
	keys, err := k.fetch(context.WithoutCancel(ctx)) // other requests wait for the result, too
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.why = err; err == nil {
		k.keys, k.got = keys, time.Now()
	}
	return err
}

// fetch requests the location of the issuer's keys, then the keys.
func (k *keySet) fetch(ctx context.Context) ([]jose.JSONWebKey, error) {
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, k.client), patience)
	defer cancel()
	provider, err := oidc.NewProvider(ctx, k.issuer)
	if err != nil {
		return nil, err
	}
	var where struct {
		Keys string `json:"jwks_uri"`
	}
	if err := provider.Claims(&where); err != nil {
		return nil, err
	}
	if u, err := url.Parse(where.Keys); err != nil || !private(u) {
		return nil, fmt.Errorf("its jwks_uri %q is not an https URL", where.Keys)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, where.Keys, http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := k.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", where.Keys, resp.Status)
	}
	data, err := flow.ReadAll(resp.Body, maxKeySet)
	if err != nil {
		return nil, err
	}
	return readKeys(data)
}

// readKeys decodes a key set (RFC 7517). It ignores keys that it does not support (section 5).
func readKeys(data []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(data, &set); err != nil {
		return nil, fmt.Errorf("the keys cannot be read: %w", err)
	}
	var keys []jose.JSONWebKey
	for _, one := range set.Keys {
		var key jose.JSONWebKey
		if json.Unmarshal(one, &key) == nil && key.Valid() {
			keys = append(keys, key)
		}
	}
	return keys, nil
}
