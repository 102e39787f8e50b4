package main

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// oidcIssuer is a small OpenID Connect issuer with one key.
type oidcIssuer struct {
	t   *testing.T
	url string
	key *rsa.PrivateKey
}

func newOIDCIssuer(t *testing.T) *oidcIssuer {
	t.Helper()
	i := &oidcIssuer{t: t, key: newRSAKey(t)}
	s := httptest.NewServer(i)
	t.Cleanup(s.Close)
	i.url = s.URL
	return i
}

func newRSAKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	return must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
}

// ServeHTTP tells of the issuer, and of its key.
func (i *oidcIssuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/keys" {
		fmt.Fprintf(w, `{"issuer": %q, "jwks_uri": %q}`, i.url, i.url+"/keys")
		return
	}
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: i.key.Public(), KeyID: "k1", Use: "sig"}}}
	if err := json.NewEncoder(w).Encode(set); err != nil {
		i.t.Error(err)
	}
}

// token signs the claims of a good token, with changes.
func (i *oidcIssuer) token(key *rsa.PrivateKey, changes map[string]any) string {
	i.t.Helper()
	all := map[string]any{
		"iss": i.url, "aud": "carillon", "sub": "alice", "groups": []string{"dev"}, "exp": time.Now().Add(time.Hour).Unix(),
	}
	maps.Copy(all, changes)
	claims := must.Get(json.Marshal(all))(i.t)
	signer := must.Get(jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: "k1"}}, nil))(i.t)
	signed := must.Get(signer.Sign(claims))(i.t)
	return must.Get(signed.CompactSerialize())(i.t)
}

// statusWith asks with a token, over a connection of its own.
func statusWith(t *testing.T, url, token string) (status int, body string) {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody))(t)
	req.Close = true
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := (&http.Client{Timeout: patience}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data := must.Get(io.ReadAll(resp.Body))(t)
	return resp.StatusCode, string(data)
}

// TestServeTakesTokensOfAnIssuer runs serve with an issuer. Package issuer tests all kinds of bad tokens.
func TestServeTakesTokensOfAnIssuer(t *testing.T) {
	t.Parallel()
	i := newOIDCIssuer(t)
	s := serveOn(t, "--nats-url", aloneServer(t), "--oidc-issuer", i.url, "--oidc-audience", "carillon",
		"--oidc-roles", "groups:dev=reader@default", "--log-level", "debug")
	api := s.address(t)
	good := i.token(i.key, nil)
	for name, test := range map[string]struct {
		token, path string
		want        int
	}{
		"good":                         {good, "/jobCollections/default", http.StatusOK},
		"good, of another collection":  {good, "/jobCollections/other", http.StatusForbidden},
		"of no group":                  {i.token(i.key, map[string]any{"groups": []string{"dev2"}}), "/jobCollections/default", http.StatusForbidden},
		"for others":                   {i.token(i.key, map[string]any{"aud": "grafana"}), "/jobs", http.StatusUnauthorized},
		"signed with a key of its own": {i.token(newRSAKey(t), nil), "/jobs", http.StatusUnauthorized},
	} {
		if got, body := statusWith(t, api+test.path, test.token); got != test.want {
			t.Errorf("a token %s: %d, want %d: %s", name, got, test.want, body)
		}
	}
	s.end(t)
	for _, secret := range strings.Split(good, ".")[1:] {
		if strings.Contains(s.log.String(), secret) {
			t.Error("the log has a token")
		}
	}
}
