package main

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// oidcIssuer is a small OpenID Connect issuer.
type oidcIssuer struct {
	t   *testing.T
	url string

	mu    sync.Mutex
	keys  map[string]*rsa.PrivateKey // published, by id
	asked int                        // for them
}

func newOIDCIssuer(t *testing.T) *oidcIssuer {
	t.Helper()
	i := &oidcIssuer{t: t, keys: map[string]*rsa.PrivateKey{}}
	s := httptest.NewServer(i)
	t.Cleanup(s.Close)
	i.url = s.URL
	return i
}

// publish makes a key, and tells of it from now on.
func (i *oidcIssuer) publish(id string) *rsa.PrivateKey {
	i.t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		i.t.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys[id] = key
	return key
}

// ServeHTTP tells of the issuer, and of its keys.
func (i *oidcIssuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/keys" {
		fmt.Fprintf(w, `{"issuer": %q, "jwks_uri": %q}`, i.url, i.url+"/keys")
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.asked++
	var set jose.JSONWebKeySet
	for id, key := range i.keys {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: key.Public(), KeyID: id, Use: "sig"})
	}
	if err := json.NewEncoder(w).Encode(set); err != nil {
		i.t.Error(err)
	}
}

// questions is how often it was asked for its keys.
func (i *oidcIssuer) questions() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked
}

// claims are those of a good token, with changes.
func (i *oidcIssuer) claims(changes map[string]any) []byte {
	all := map[string]any{
		"iss": i.url, "aud": "carillon", "sub": "alice", "groups": []string{"dev"}, "exp": time.Now().Add(time.Hour).Unix(),
	}
	maps.Copy(all, changes)
	data, err := json.Marshal(all)
	if err != nil {
		i.t.Fatal(err)
	}
	return data
}

// token signs claims.
func (i *oidcIssuer) token(algorithm jose.SignatureAlgorithm, key any, id string, claims []byte, options *jose.SignerOptions) string {
	i.t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: key, KeyID: id}}, options)
	if err != nil {
		i.t.Fatal(err)
	}
	signed, err := signer.Sign(claims)
	if err != nil {
		i.t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		i.t.Fatal(err)
	}
	return text
}

// asPEM is a public key as programs keep it, which a careless verifier takes for a secret that both sides share.
func asPEM(t *testing.T, key crypto.PublicKey) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

// statusWith asks with a token, over a connection of its own.
func statusWith(t *testing.T, url, token string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := (&http.Client{Timeout: patience}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

// TestServeTakesTokensOfAnIssuer runs serve with an issuer, and gives it good tokens and all kinds of bad ones.
func TestServeTakesTokensOfAnIssuer(t *testing.T) {
	t.Parallel()
	i := newOIDCIssuer(t)
	key := i.publish("k1")
	s := serveOn(t, "--nats-url", aloneServer(t), "--oidc-issuer", i.url, "--oidc-audience", "carillon",
		"--oidc-roles", "groups:dev=reader@default", "--log-level", "debug")
	api := s.address(t)
	now := time.Now()
	rs256 := func(changes map[string]any) string { return i.token(jose.RS256, key, "k1", i.claims(changes), nil) }
	good := rs256(nil)
	parts := strings.Split(good, ".")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","kid":"k1"}`))
	own, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		token, path string
		want        int
	}{
		"good":                              {good, "/jobCollections/default", http.StatusOK},
		"good, of another collection":       {good, "/jobCollections/other", http.StatusForbidden},
		"of no group":                       {rs256(map[string]any{"groups": []string{"dev2"}}), "/jobCollections/default", http.StatusForbidden},
		"over, by what clocks differ":       {rs256(map[string]any{"exp": now.Add(-30 * time.Second).Unix()}), "/jobs", http.StatusOK},
		"over":                              {rs256(map[string]any{"exp": now.Add(-2 * time.Minute).Unix()}), "/jobs", http.StatusUnauthorized},
		"without an end":                    {rs256(map[string]any{"exp": nil}), "/jobs", http.StatusUnauthorized},
		"not yet good":                      {rs256(map[string]any{"nbf": now.Add(time.Hour).Unix()}), "/jobs", http.StatusUnauthorized},
		"for others":                        {rs256(map[string]any{"aud": "grafana"}), "/jobs", http.StatusUnauthorized},
		"of others":                         {rs256(map[string]any{"iss": "https://login.example.com"}), "/jobs", http.StatusUnauthorized},
		"not signed":                        {none + "." + parts[1] + ".", "/jobs", http.StatusUnauthorized},
		"not signed, with a signature":      {none + "." + parts[1] + "." + parts[2], "/jobs", http.StatusUnauthorized},
		"its signature cut off":             {parts[0] + "." + parts[1] + ".", "/jobs", http.StatusUnauthorized},
		"signed with the public key":        {i.token(jose.HS256, asPEM(t, key.Public()), "k1", i.claims(nil), nil), "/jobs", http.StatusUnauthorized},
		"signed with a key of its own":      {i.token(jose.RS256, own, "k1", i.claims(nil), nil), "/jobs", http.StatusUnauthorized},
		"that brings the key along":         {i.token(jose.RS256, own, "k1", i.claims(nil), &jose.SignerOptions{EmbedJWK: true}), "/jobs", http.StatusUnauthorized},
		"of claims that were changed after": {parts[0] + "." + base64.RawURLEncoding.EncodeToString(i.claims(map[string]any{"sub": "root"})) + "." + parts[2], "/jobs", http.StatusUnauthorized},
	} {
		if got, body := statusWith(t, api+test.path, test.token); got != test.want {
			t.Errorf("a token %s: %d, want %d: %s", name, got, test.want, body)
		}
	}

	// Keys that are not known are asked for, but not for each token that names one.
	before := i.questions()
	for n := range 60 {
		id := fmt.Sprint("made-up-", n)
		if got, body := statusWith(t, api+"/jobs", i.token(jose.RS256, own, id, i.claims(nil), nil)); got != http.StatusUnauthorized {
			t.Errorf("a key that is not known: %d: %s", got, body)
		}
	}
	if asked := i.questions() - before; asked > 2 {
		t.Errorf("60 tokens with made-up keys: the issuer was asked %d times", asked)
	}
	fresh := i.token(jose.RS256, i.publish("k2"), "k2", i.claims(nil), nil)
	s.until(t, "the new key", func() bool {
		got, _ := statusWith(t, api+"/jobs", fresh)
		return got == http.StatusOK
	})
	if got, body := statusWith(t, api+"/jobs", good); got != http.StatusOK {
		t.Errorf("after the rotation, the token before: %d: %s", got, body)
	}
	s.end(t)
	for _, secret := range []string{parts[2], parts[1]} {
		if strings.Contains(s.log.String(), secret) {
			t.Error("the log has a token")
		}
	}
}
