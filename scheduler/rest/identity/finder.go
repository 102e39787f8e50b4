package identity

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/auth/tokens"
	"github.com/carillon-sched/carillon/scheduler/guard"
	"github.com/carillon-sched/carillon/scheduler/throttle"
)

// Demand states when credentials are required.
type Demand int

// The demands.
const (
	// Never: all callers have full access.
	Never Demand = iota

	// OnceThereAre requires credentials as soon as a token exists, or an issuer or a rule for certificates is
	// configured.
	OnceThereAre

	// Always requires credentials, even if none can be valid yet.
	Always
)

// Config configures a finder.
type Config struct {
	// Demand states when credentials are required. Default: never.
	Demand Demand

	// Local: only this machine can reach the server. It names callers without credentials accordingly.
	Local bool

	// Tokens are the tokens of this scheduler. Default: none.
	Tokens *tokens.Keeper

	// Issuer verifies tokens of an issuer. Default: none.
	Issuer Issuer

	// Certificates map the names in client certificates to roles: cn, ou, o, dns, email, uri. Default: none.
	Certificates []auth.Rule

	// Trusted verifies the certificate of a connection again, because it may have expired since, or its authority may
	// no longer be trusted. Required with Certificates.
	Trusted func(chain []*x509.Certificate) error
}

// Issuer verifies the tokens of an issuer.
type Issuer interface {
	// Verify returns the owner of a token. The error is an [*auth.Unknown] for an invalid one.
	Verify(ctx context.Context, token string) (*auth.Principal, error)
}

// Authenticator authenticates callers. It is safe for concurrent use.
type Authenticator struct {
	cfg     atomic.Pointer[Config]
	guesses *throttle.Throttle
}

// The rate limit of failed attempts per address: enough for a fleet behind one address whose token has just expired,
// and useless for guessing.
const (
	guessesPerSecond = 10
	guessesAtOnce    = 100
)

// New returns a finder. It does no I/O.
func New(cfg Config) *Authenticator {
	f := &Authenticator{guesses: throttle.New(guessesPerSecond, guessesAtOnce)}
	f.cfg.Store(&cfg)
	return f
}

// Change replaces the configuration for later requests.
func (f *Authenticator) Change(cfg Config) { f.cfg.Store(&cfg) }

// Open reports whether credentials are currently not required.
func (f *Authenticator) Open(ctx context.Context) (bool, error) { return f.cfg.Load().open(ctx) }

func (c *Config) open(ctx context.Context) (bool, error) {
	switch {
	case c.Demand == Never:
		return true, nil
	case c.Demand == Always, c.Issuer != nil, len(c.Certificates) > 0:
		return false, nil
	}
	some, err := c.Tokens.Any(ctx)
	return !some && err == nil, err
}

// Find returns the sender of a request. A job always needs a token, even on an open server: otherwise its author would
// have full access. The error is an [*auth.Unknown] for an unknown sender, a [*throttle.Exceeded], or an error of the
// store or issuer.
func (f *Authenticator) Find(r *http.Request) (*auth.Principal, error) {
	cfg, address := f.cfg.Load(), guard.Address(r)
	open, err := cfg.open(r.Context())
	if errors.Is(err, scheduler.ErrUnavailable) {
		return nil, err // an open server ignores tokens otherwise
	}
	if err != nil {
		return nil, fmt.Errorf("the tokens cannot be read: %w", err)
	}
	if open && r.Header[scheduler.JobHeader] == nil {
		via := auth.ViaOpen
		if cfg.Local {
			via = auth.ViaLoopback
		}
		return auth.Anonymous(via, address), nil
	}
	p, err := f.find(cfg, r, address)
	if err != nil {
		return nil, err
	}
	p.Address = address
	return p, nil
}

func (f *Authenticator) find(c *Config, r *http.Request, address string) (*auth.Principal, error) {
	given := r.Header.Values("Authorization")
	switch {
	case len(given) > 1:
		return nil, &auth.Unknown{Reason: "there are several Authorization headers"}
	case len(given) == 0:
		return c.certified(r)
	}
	scheme, token, _ := strings.Cut(given[0], " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return nil, &auth.Unknown{Reason: "what Authorization has is no Bearer token"}
	}
	if c.Tokens != nil && c.Tokens.Familiar(token) {
		return c.byToken(r.Context(), token)
	}
	return f.guessed(r.Context(), c, address, token)
}

// guessed performs an expensive check, unless the address has failed too often; success is free. Failures of issuer
// tokens are counted per issuer and key, too, so that an issuer whose new key fails does not lock out other users at
// the address.
func (f *Authenticator) guessed(ctx context.Context, c *Config, address, token string) (p *auth.Principal, err error) {
	network := throttle.Network(address) + signer(token)
	if wait, ok := f.guesses.Peek(network); !ok {
		return nil, &throttle.Exceeded{After: wait, Message: "too many tokens came from here that are not taken; wait a while"}
	}
	switch {
	case strings.HasPrefix(token, tokens.Prefix) && c.Tokens != nil:
		p, err = c.byToken(ctx, token)
	case c.Issuer != nil:
		p, err = c.Issuer.Verify(ctx, token)
	default:
		err = &auth.Unknown{Reason: "this is not a token of this scheduler: those begin with " + tokens.Prefix}
	}
	if _, unknown := errors.AsType[*auth.Unknown](err); unknown {
		f.guesses.Allow(network)
	}
	return p, err
}

// signer identifies the issuer and key that a JWT (RFC 7519) names; "" for other tokens. Random names gain nothing: a
// token of an unknown key causes only a lookup.
func signer(token string) string {
	parts := strings.Split(token, ".")
	var named struct {
		Issuer string `json:"iss"`
		Key    string `json:"kid"`
	}
	if len(parts) != jwtParts {
		return ""
	}
	for _, part := range parts[:2] { // the header and the claims
		data, err := base64.RawURLEncoding.DecodeString(part)
		if err != nil || json.Unmarshal(data, &named) != nil {
			return ""
		}
	}
	sum := sha256.Sum256([]byte(named.Issuer + "\x00" + named.Key)) // fixed length, because many are stored
	return " " + string(sum[:8])
}

const jwtParts = 3

func (c *Config) byToken(ctx context.Context, token string) (*auth.Principal, error) {
	t, err := c.Tokens.Verify(ctx, token)
	if err != nil {
		return nil, err
	}
	return tokens.Principal(t, ""), nil
}

// certified returns the owner of the client certificate.
func (c *Config) certified(r *http.Request) (*auth.Principal, error) {
	if len(c.Certificates) == 0 || r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return nil, &auth.Unknown{}
	}
	chain := r.TLS.PeerCertificates
	if err := c.Trusted(chain); err != nil {
		return nil, &auth.Unknown{Reason: "the client certificate is not trusted any more: " + err.Error()}
	}
	leaf := chain[0]
	sum := sha256.Sum256(leaf.Raw)
	name := leaf.Subject.CommonName
	for _, kind := range []string{"uri", "dns", "email"} {
		if said := said(leaf, kind); name == "" && len(said) > 0 {
			name = said[0]
		}
	}
	return &auth.Principal{
		Name: name, ID: hex.EncodeToString(sum[:]), Via: auth.ViaCertificate,
		Grants: auth.Grants(c.Certificates, func(kind string) []string { return said(leaf, kind) }),
	}, nil
}

// said returns the names of a kind in a certificate.
func said(c *x509.Certificate, kind string) (names []string) {
	switch kind {
	case "cn":
		if c.Subject.CommonName != "" {
			names = []string{c.Subject.CommonName}
		}
	case "ou":
		names = c.Subject.OrganizationalUnit
	case "o":
		names = c.Subject.Organization
	case "dns":
		names = c.DNSNames
	case "email":
		names = c.EmailAddresses
	case "uri":
		for _, u := range c.URIs {
			names = append(names, u.String())
		}
	}
	return names
}

// Kinds returns the kinds of names in a certificate that rules can use.
func Kinds() []string { return []string{"cn", "ou", "o", "dns", "email", "uri"} }
