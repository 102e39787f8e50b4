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

	"github.com/carillon-sched/carillon/scheduler/auth"
)

// Config configures an issuer. URL, Audience and Rules are required.
type Config struct {
	// URL is the issuer's URL, as in iss: https, except for an address of this machine.
	URL string

	// Audience is the aud of tokens for this scheduler.
	Audience string

	// Rules map claims to roles. Dots separate the names of nested claims: realm_access.roles.
	Rules []auth.Rule

	// Client sends requests to the issuer. Default: a client with a timeout of ten seconds.
	Client *http.Client
}

// Issuer verifies tokens. It is safe for concurrent use.
type Issuer struct {
	rules    atomic.Pointer[[]auth.Rule]
	verifier *oidc.IDTokenVerifier
}

// Algorithms returns the accepted signature algorithms (RFC 7518, section 3.1; RFC 8037), all with public keys.
func Algorithms() []string {
	return []string{
		oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA,
	}
}

// skew is the tolerated difference between the issuer's clock and ours.
const skew = time.Minute

// patience limits the wait for an answer of the issuer.
const patience = 10 * time.Second

// New returns an Issuer. It does no I/O.
func New(cfg Config) (*Issuer, error) {
	if err := Check(cfg.URL); err != nil {
		return nil, err
	}
	if cfg.Audience == "" {
		return nil, errors.New("set an audience; without one, tokens for other applications would be valid here")
	}
	if cfg.Client == nil {
		cfg.Client = &http.Client{Timeout: patience, CheckRedirect: stayPrivate}
	}
	keys := &keySet{issuer: cfg.URL, client: cfg.Client, turn: make(chan struct{}, 1)}
	i := &Issuer{verifier: oidc.NewVerifier(cfg.URL, keys, &oidc.Config{
		ClientID: cfg.Audience, SupportedSigningAlgs: Algorithms(),
		Now: func() time.Time { return time.Now().Add(-skew) }, // the verifier tolerates five minutes for nbf: four remain
	})}
	i.SetRules(cfg.Rules)
	return i, nil
}

// SetRules replaces the rules for later requests.
func (i *Issuer) SetRules(rules []auth.Rule) { i.rules.Store(&rules) }

// Check validates the URL of an issuer, and requires that no attacker on the network path can replace its keys.
func Check(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%q is not the URL of an issuer, such as https://login.example.com/realms/main", text)
	}
	if !private(u) {
		return fmt.Errorf("%q is not an https URL: an attacker on the network could replace the keys", text)
	}
	return nil
}

// private reports whether no attacker on the network path can change the answer.
func private(u *url.URL) bool {
	ip, err := netip.ParseAddr(u.Hostname())
	local := u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
	return u.Scheme == "https" || u.Scheme == "http" && local
}

// stayPrivate refuses redirects to a URL whose answer an attacker on the network path could change.
func stayPrivate(req *http.Request, via []*http.Request) error {
	const most = 5
	if !private(req.URL) || len(via) >= most {
		return http.ErrUseLastResponse
	}
	return nil
}

// Verify returns the owner of a token. The error is an [*auth.Unknown], or matches ErrUnavailable if the issuer's
// keys are unavailable.
func (i *Issuer) Verify(ctx context.Context, token string) (*auth.Principal, error) {
	var lack error
	t, err := i.verifier.Verify(context.WithValue(ctx, lackKey{}, &lack), token)
	if lack != nil {
		return nil, lack
	}
	if expired, ok := errors.AsType[*oidc.TokenExpiredError](err); ok {
		return nil, &auth.Unknown{Reason: "this token expired at " + expired.Expiry.UTC().Format(time.RFC3339)}
	}
	if err != nil {
		return nil, &auth.Unknown{Reason: "this token is not taken: " + strings.TrimPrefix(err.Error(), "oidc: ")}
	}
	var claims map[string]any
	if err := t.Claims(&claims); err != nil {
		return nil, &auth.Unknown{Reason: "the claims of this token cannot be read"}
	}
	said := func(claim string) []string { return valuesOf(claims, claim) }
	name := t.Subject
	for _, claim := range []string{"preferred_username", "upn", "email"} {
		if v := said(claim); len(v) == 1 && v[0] != "" {
			name = v[0]
			break
		}
	}
	return &auth.Principal{Name: name, ID: t.Subject, Via: auth.ViaOIDC, Grants: auth.Grants(*i.rules.Load(), said)}, nil
}

// valuesOf returns the values of a claim: a text or a list. Spaces separate scopes (RFC 8693, section 4.2).
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
