package issuer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/carillon-sched/carillon/scheduler/access"
)

// Config says whose tokens are taken. URL, Audience and Rules are required.
type Config struct {
	// URL is the issuer's, as its tokens have it in iss: https, but for an address of this machine.
	URL string

	// Audience is what tokens for this scheduler have in aud.
	Audience string

	// Rules say what claims give. A claim inside another one is named with dots between: realm_access.roles.
	Rules []access.Rule

	// Client asks the issuer. Default: one that waits ten seconds.
	Client *http.Client
}

// Issuer takes tokens. It is safe for concurrent use.
type Issuer struct {
	rules    atomic.Pointer[[]access.Rule]
	verifier *oidc.IDTokenVerifier
}

// Algorithms are those that tokens may be signed with (RFC 7518, section 3.1; RFC 8037): with a public key, all of them.
func Algorithms() []string {
	return []string{
		oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA,
	}
}

// skew is by how much the issuer's clock may be behind or ahead of ours.
const skew = time.Minute

// patience is how long an issuer may take to answer.
const patience = 10 * time.Second

// New returns what takes the tokens of an issuer. It does no I/O.
func New(cfg Config) (*Issuer, error) {
	if err := Check(cfg.URL); err != nil {
		return nil, err
	}
	if cfg.Audience == "" {
		return nil, errors.New("without an audience, tokens that the issuer made for others would count here")
	}
	if cfg.Client == nil {
		cfg.Client = &http.Client{Timeout: patience, CheckRedirect: stayPrivate}
	}
	keys := &keySet{issuer: cfg.URL, client: cfg.Client, turn: make(chan struct{}, 1)}
	i := &Issuer{verifier: oidc.NewVerifier(cfg.URL, keys, &oidc.Config{
		ClientID: cfg.Audience, SupportedSigningAlgs: Algorithms(),
		Now: func() time.Time { return time.Now().Add(-skew) }, // it allows five minutes for nbf by itself: four of them are left
	})}
	i.SetRules(cfg.Rules)
	return i, nil
}

// SetRules changes what claims give, for the requests that come from now on.
func (i *Issuer) SetRules(rules []access.Rule) { i.rules.Store(&rules) }

// Check makes sure that a text can be the URL of an issuer: nobody on the way may give other keys.
func Check(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%q is not the URL of an issuer, such as https://login.example.com/realms/main", text)
	}
	if !private(u) {
		return fmt.Errorf("%q is not an https URL: whoever is on the way could say which keys count", text)
	}
	return nil
}

// private reports whether nobody on the way can change what is there.
func private(u *url.URL) bool {
	ip, err := netip.ParseAddr(u.Hostname())
	local := u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
	return u.Scheme == "https" || u.Scheme == "http" && local
}

// stayPrivate refuses redirects to where somebody on the way could change the answer.
func stayPrivate(req *http.Request, via []*http.Request) error {
	const most = 5
	if !private(req.URL) || len(via) >= most {
		return http.ErrUseLastResponse
	}
	return nil
}

// Verify returns who has a token. The error is an [*access.Unknown], or matches ErrUnavailable when the issuer's keys
// cannot be had.
func (i *Issuer) Verify(ctx context.Context, token string) (*access.Principal, error) {
	var lack error
	t, err := i.verifier.Verify(context.WithValue(ctx, lackKey{}, &lack), token)
	if lack != nil {
		return nil, lack
	}
	if expired, ok := errors.AsType[*oidc.TokenExpiredError](err); ok {
		return nil, &access.Unknown{Reason: "this token expired at " + expired.Expiry.UTC().Format(time.RFC3339)}
	}
	if err != nil {
		return nil, &access.Unknown{Reason: "this token is not taken: " + strings.TrimPrefix(err.Error(), "oidc: ")}
	}
	var claims map[string]any
	if err := t.Claims(&claims); err != nil {
		return nil, &access.Unknown{Reason: "the claims of this token cannot be read"}
	}
	said := func(claim string) []string { return valuesOf(claims, claim) }
	name := t.Subject
	for _, claim := range []string{"preferred_username", "upn", "email"} {
		if v := said(claim); len(v) == 1 && v[0] != "" {
			name = v[0]
			break
		}
	}
	return &access.Principal{Name: name, ID: t.Subject, Via: access.ViaOIDC, Grants: access.Grants(*i.rules.Load(), said)}, nil
}

// valuesOf returns what a claim says: its text, or its texts. Scopes are separated by spaces (RFC 8693, section 4.2).
func valuesOf(claims map[string]any, claim string) []string {
	v, ok := claims[claim]
	if outer, inner, nested := strings.Cut(claim, "."); !ok && nested {
		if object, isObject := claims[outer].(map[string]any); isObject {
			return valuesOf(object, inner)
		}
	}
	switch v := v.(type) {
	case string:
		if claim == "scope" || claim == "scp" {
			return strings.Fields(v)
		}
		return []string{v}
	case bool, json.Number, float64:
		return []string{fmt.Sprint(v)}
	case []any:
		var texts []string
		for _, one := range v {
			if text, ok := one.(string); ok {
				texts = append(texts, text)
			}
		}
		return slices.Compact(texts)
	}
	return nil
}
