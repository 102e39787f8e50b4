package issuer_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/auth/issuer"
)

// provider is an OpenID Connect issuer that signs.
type provider struct {
	t   *testing.T
	url string

	mu    sync.Mutex
	keys  map[string]crypto.Signer // published, by id
	down  bool
	asked int // for keys
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{t: t, keys: map[string]crypto.Signer{}, url: "http://127.0.0.1:1/main"}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p.keys["r1"], p.keys["e1"] = rsaKey, p.elliptic()
	return p
}

func (p *provider) elliptic() crypto.Signer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		p.t.Fatal(err)
	}
	return key
}

// ServeHTTP is the discovery document, and the keys.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.down:
		w.WriteHeader(http.StatusBadGateway)
	case strings.HasSuffix(r.URL.Path, "/.well-known/openid-configuration"):
		fmt.Fprintf(w, `{"issuer": %q, "jwks_uri": %q}`, p.url, p.url+"/keys")
	case strings.HasSuffix(r.URL.Path, "/keys"):
		p.asked++
		set := map[string][]any{"keys": {map[string]string{"kty": "future", "kid": "f1"}}}
		for id, key := range p.keys {
			set["keys"] = append(set["keys"], jose.JSONWebKey{Key: key.Public(), KeyID: id, Use: "sig"})
		}
		data, err := json.Marshal(set)
		if err != nil {
			p.t.Error(err)
		}
		_, _ = w.Write(data)
	default:
		http.NotFound(w, r)
	}
}

// RoundTrip answers without a socket, for tests on fake time.
func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	p.ServeHTTP(answer, r)
	return answer.Result(), nil
}

func (p *provider) change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

// sign returns a token of the issuer. Claims that are nil are left out.
func (p *provider) sign(algorithm jose.SignatureAlgorithm, id string, key any, claims map[string]any) string {
	p.t.Helper()
	all := map[string]any{
		"iss": p.url, "aud": "carillon", "sub": "u-1", "exp": time.Now().Add(time.Hour).Unix(), "groups": []string{"dev", "all"},
	}
	for name, v := range claims {
		all[name] = v
		if v == nil {
			delete(all, name)
		}
	}
	data, err := json.Marshal(all)
	if err != nil {
		p.t.Fatal(err)
	}
	options := &jose.SignerOptions{EmbedJWK: id == "embedded"}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: key, KeyID: id}}, options)
	if err != nil {
		p.t.Fatal(err)
	}
	signed, err := signer.Sign(data)
	if err != nil {
		p.t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		p.t.Fatal(err)
	}
	return text
}

// by returns a token that is signed with a published key.
func (p *provider) by(id string, claims map[string]any) string {
	p.t.Helper()
	algorithm := jose.RS256
	if strings.HasPrefix(id, "e") {
		algorithm = jose.ES256
	}
	return p.sign(algorithm, id, p.keys[id], claims)
}

// trusting returns what takes the provider's tokens.
func (p *provider) trusting(client *http.Client, rules ...string) *issuer.Issuer {
	p.t.Helper()
	cfg := issuer.Config{URL: p.url, Audience: "carillon", Client: client}
	for _, text := range rules {
		r, err := auth.ParseRule(text)
		if err != nil {
			p.t.Fatal(err)
		}
		cfg.Rules = append(cfg.Rules, r)
	}
	i, err := issuer.New(cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	return i
}

// changed returns a text with another character in its middle.
func changed(text string) string {
	at, other := len(text)/2, "A"
	if text[at] == other[0] {
		other = "B"
	}
	return text[:at] + other + text[at+1:]
}

// TestIssuer takes the tokens of an issuer over HTTP, and refuses what is none of them.
func TestIssuer(t *testing.T) {
	p := newProvider(t)
	server := httptest.NewServer(p)
	defer server.Close()
	p.url = server.URL + "/main"
	i := p.trusting(nil, "groups:platform=admin", "groups:dev=operator@partners", "groups:all=reader", "realm_access.roles:ops=admin@ops",
		"scope:carillon.read=reader@x", "https://example.com/team:a=reader@a")
	foreign := p.elliptic()
	public, err := x509.MarshalPKIXPublicKey(p.keys["r1"].Public())
	if err != nil {
		t.Fatal(err)
	}
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","kid":"r1"}`)) + "." +
		base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"iss":%q,"aud":"carillon","sub":"u","exp":99999999999}`, p.url)) + "."
	good := p.by("r1", nil)
	ago := func(d time.Duration) int64 { return time.Now().Add(-d).Unix() }
	tests := map[string]struct{ token, want string }{
		"RS256":            {good, "oidc u-1 has [operator@partners reader]"},
		"ES256":            {p.by("e1", nil), "oidc u-1 has [operator@partners reader]"},
		"PS512":            {p.sign(jose.PS512, "r1", p.keys["r1"], nil), "oidc u-1 has [operator@partners reader]"},
		"without key id":   {p.sign(jose.RS256, "", p.keys["r1"], nil), "oidc u-1 has [operator@partners reader]"},
		"several aud":      {p.by("r1", map[string]any{"aud": []string{"other", "carillon"}}), "oidc u-1 has [operator@partners reader]"},
		"name":             {p.by("r1", map[string]any{"preferred_username": "alice", "groups": nil}), "oidc alice has []"},
		"one group":        {p.by("r1", map[string]any{"groups": "platform"}), "oidc u-1 has [admin]"},
		"nested":           {p.by("r1", map[string]any{"groups": nil, "realm_access": map[string]any{"roles": []string{"ops"}}}), "oidc u-1 has [admin@ops]"},
		"scope":            {p.by("r1", map[string]any{"groups": nil, "scope": "openid carillon.read"}), "oidc u-1 has [reader@x]"},
		"claim with a URL": {p.by("r1", map[string]any{"groups": nil, "https://example.com/team": "a"}), "oidc u-1 has [reader@a]"},
		"groups no text":   {p.by("r1", map[string]any{"groups": []any{1, map[string]any{}}}), "oidc u-1 has []"},
		"just over":        {p.by("r1", map[string]any{"exp": ago(20 * time.Second)}), "oidc u-1 has [operator@partners reader]"},
		"not yet, soon":    {p.by("r1", map[string]any{"nbf": ago(-20 * time.Second)}), "oidc u-1 has [operator@partners reader]"},
		"over":             {p.by("r1", map[string]any{"exp": ago(2 * time.Minute)}), "expired at"},
		"not yet":          {p.by("r1", map[string]any{"nbf": ago(-time.Hour)}), "before the nbf"},
		"without exp":      {p.by("r1", map[string]any{"exp": nil}), "expired at"},
		"other audience":   {p.by("r1", map[string]any{"aud": "other"}), "expected audience"},
		"without audience": {p.by("r1", map[string]any{"aud": nil}), "expected audience"},
		"other issuer":     {p.by("r1", map[string]any{"iss": "https://evil.test"}), "different provider"},
		"foreign key":      {p.sign(jose.ES256, "e1", foreign, nil), "not signed with a key of the issuer"},
		"unknown key":      {p.sign(jose.ES256, "e9", foreign, nil), "not signed with a key of the issuer"},
		"embedded key":     {p.sign(jose.ES256, "embedded", foreign, nil), "not signed with a key of the issuer"},
		"alg none":         {none, "not taken"},
		"HMAC of the key":  {p.sign(jose.HS256, "r1", public, nil), "not taken"},
		"changed":          {changed(good), "not taken"},
		"cut":              {good[:len(good)-10], "not taken"},
		"nothing":          {"x", "not taken"},
		"dots":             {"..", "not taken"},
	}
	for name, test := range tests {
		who, err := i.Verify(t.Context(), test.token)
		got := ""
		if err == nil {
			got = fmt.Sprintf("%s has %v", who, who.Grants)
		} else if _, ok := errors.AsType[*auth.Unknown](err); !ok {
			t.Errorf("%s: %v is not an Unknown", name, err)
		} else if got = err.Error(); strings.Contains(got, test.token) && len(test.token) > 2 {
			t.Errorf("%s: %s repeats the token", name, got)
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
	i.SetRules([]auth.Rule{{Attribute: "groups", Value: "all", Grant: auth.Grant{Role: auth.Admin}}})
	if who, err := i.Verify(t.Context(), good); err != nil || fmt.Sprint(who.Grants) != "[admin]" {
		t.Errorf("by other rules: got %v, %v", who, err)
	}
}

// TestKeyRotation shows that a new key counts at once, one that is taken back for an hour, and that the keys go on to
// count while the issuer does not answer, for a day.
func TestKeyRotation(t *testing.T) {
	p := newProvider(t)
	bubble.Test(t, func(t *testing.T) {
		i := p.trusting(&http.Client{Transport: p}, "groups:*=reader")
		verify := func(token string) error {
			_, err := i.Verify(t.Context(), token)
			return err
		}
		takes := func(what, token string, want bool) {
			t.Helper()
			if err := verify(token); (err == nil) != want {
				t.Errorf("%s: %v", what, err)
			}
		}
		long := map[string]any{"exp": time.Now().Add(1000 * time.Hour).Unix()}
		old := p.by("r1", long)
		takes("the first key", old, true)
		time.Sleep(10 * time.Second)
		p.change(func() { p.keys["e2"] = p.elliptic(); delete(p.keys, "r1") })
		takes("a new key", p.by("e2", long), true)
		p.change(func() { p.keys["r1"] = nil; delete(p.keys, "r1") })
		takes("a key that was taken back, which was heard of with the new one", old, false)

		e1 := p.by("e1", long)
		p.change(func() { delete(p.keys, "e1") })
		takes("a key that was just taken back", e1, true)
		time.Sleep(time.Hour)
		takes("it an hour later", e1, false)

		e2 := p.by("e2", long)
		takes("the new one", e2, true)
		p.change(func() { p.down = true })
		time.Sleep(23 * time.Hour)
		takes("a key of an issuer that does not answer", e2, true)
		time.Sleep(2 * time.Hour)
		if err := verify(e2); !errors.Is(err, scheduler.ErrUnavailable) {
			t.Errorf("a day later: %v", err)
		}
		p.change(func() { p.down = false })
		time.Sleep(time.Minute)
		takes("it when the issuer answers again", e2, true)
	})
}

// TestIssuerIsNotAskedForEveryToken shows that tokens with keys at random do not make the issuer be asked all the time,
// and that one which does not answer at the start lets nobody in, until it does.
func TestIssuerIsNotAskedForEveryToken(t *testing.T) {
	p := newProvider(t)
	bubble.Test(t, func(t *testing.T) {
		i := p.trusting(&http.Client{Transport: p}, "groups:*=reader")
		p.change(func() { p.down = true })
		if _, err := i.Verify(t.Context(), p.by("r1", nil)); !errors.Is(err, scheduler.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
		p.change(func() { p.down = false })
		time.Sleep(10 * time.Second)
		key := p.elliptic()
		var group sync.WaitGroup
		for n := range 200 {
			group.Go(func() {
				if _, err := i.Verify(t.Context(), p.sign(jose.ES256, fmt.Sprint("k", n), key, nil)); err == nil {
					t.Error("a key at random is taken")
				}
			})
		}
		group.Wait()
		if p.asked != 1 {
			t.Errorf("the issuer was asked %d times for its keys", p.asked)
		}
		if _, err := i.Verify(t.Context(), p.by("r1", nil)); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := i.Verify(ctx, p.by("e1", nil)); err != nil { // nobody needs to be asked
			t.Error(err)
		}
	})
}

func TestCheck(t *testing.T) {
	for text, want := range map[string]bool{
		"https://login.example.com/realms/main": true, "http://127.0.0.1:8080": true, "http://localhost/x": true, "http://[::1]:1/x": true,
		"http://login.example.com": false, "login.example.com": false, "https://": false, "https://x/?a=b": false, "ftp://127.0.0.1": false, "": false,
	} {
		if err := issuer.Check(text); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := issuer.New(issuer.Config{URL: "https://x"}); err == nil {
		t.Error("an audience is not asked for")
	}
}
