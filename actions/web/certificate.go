package web

import (
	"context"
	"crypto/sha1" //nolint:gosec // a thumbprint is SHA-1 by its definition, and protects nothing
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/lru"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// certificate is authentication by a client certificate in the TLS handshake.
type certificate struct {
	client        *Client
	pfx, password document.Secret
}

// certificateMembers are the fields that describe a certificate in responses, among them Azure Scheduler's two
// names for its expiry. They are ignored in requests.
var certificateMembers = []string{
	"certificateThumbprint", "certificateSubjectName", "certificateExpiration", "certificateExpirationDate",
}

// decodeLimit is how long a document waits for its certificate to be decoded.
const decodeLimit = 5 * time.Second

// readCertificate reads ao, the field authentication of o. It decodes a certificate in a new document, so that
// an unreadable one is reported immediately; shown holds the fields that describe it.
func (r *request) readCertificate(c *Client, o, ao *document.Object) (a *certificate, shown []document.Member) {
	a = &certificate{client: c}
	kept := mixed(ao)
	a.pfx, _ = ao.Secret("pfx")
	a.password, _ = ao.Secret("password")
	if ao.Require("pfx") && a.pfx.IsZero() && ao.Has("pfx") {
		ao.Problem("pfx", "must not be empty")
	}
	if r.uri != nil && r.uri.Scheme != "https" {
		o.Problem("uri", "must begin with https:// for a client certificate")
	}
	if kept != "" {
		ao.Problem(kept, "belongs to the certificate or password that is replaced: send both")
		return a, nil
	}
	if ao.Reader().Stored || a.pfx.IsZero() {
		return a, nil
	}
	if a.pfx.Locked() || a.password.Locked() { // stored without the key at hand: it was described then
		v, _ := o.Value("authentication")
		return a, slices.DeleteFunc(slices.Clone(v.Members()), func(m document.Member) bool { return !describes(m) })
	}
	pfx, ok := a.pfx.Literal()
	password, plain := a.password.Literal()
	if !ok || !plain {
		return a, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), decodeLimit)
	defer cancel()
	decoded, err := decodePFX(ctx, pfx, password)
	switch {
	case errors.Is(err, errPassword):
		ao.Problem("password", "is not the password of pfx")
	case err != nil:
		ao.Problem("pfx", "%v", err)
	default:
		shown = describe(decoded.Leaf)
	}
	return a, shown
}

// mixed returns which of certificate and password comes from the stored job while the other is new, or "".
// Checking whether they match would reveal something about the stored secret.
func mixed(ao *document.Object) string {
	pfx, _ := ao.Value("pfx")
	password, _ := ao.Value("password")
	switch {
	case pfx.Kind() != document.KindString || password.Kind() != document.KindString || pfx.IsSecret() == password.IsSecret():
		return ""
	case pfx.IsSecret():
		return "pfx"
	}
	return "password"
}

// describes reports whether m describes a certificate.
func describes(m document.Member) bool {
	return slices.ContainsFunc(certificateMembers, func(name string) bool { return strings.EqualFold(name, m.Name) })
}

// show replaces the certificate's description in the authentication of o.
func show(o *document.Object, shown []document.Member) {
	v, _ := o.Value("authentication")
	if len(shown) == 0 && !slices.ContainsFunc(v.Members(), describes) {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(v.Members()), describes)
	o.Set("authentication", document.ObjectValue(append(kept, shown...)...))
}

// describe returns the fields that describe a certificate.
func describe(leaf *x509.Certificate) []document.Member {
	sum := sha1.Sum(leaf.Raw) //nolint:gosec // as above
	end := leaf.NotAfter.UTC().Format(time.RFC3339)
	members := make([]document.Member, len(certificateMembers))
	for i, text := range []string{strings.ToUpper(hex.EncodeToString(sum[:])), leaf.Subject.String(), end, end} {
		members[i] = document.Member{Name: certificateMembers[i], Value: document.StringValue(text)}
	}
	return members
}

func (a *certificate) authenticate(ctx context.Context, at scheduler.Attempt, _ string) (credential, error) {
	pfx, err := at.Reveal(a.pfx)
	if err != nil {
		return credential{}, unready(err)
	}
	password, err := at.Reveal(a.password)
	if err != nil {
		return credential{}, unready(err)
	}
	t, err := a.client.withCertificate(ctx, pfx, password)
	switch {
	case err != nil && ctx.Err() != nil:
		return credential{}, ctx.Err()
	case err != nil:
		return credential{}, &failure{*actions.Unready(fmt.Errorf("pfx %w", err)), "Client certificate"}
	}
	return credential{transport: t}, nil
}

// transport is an [http.RoundTripper] whose idle connections can be closed.
type transport interface {
	http.RoundTripper
	CloseIdleConnections()
}

// maxCertified is how many client certificates are kept decoded.
const maxCertified = 256

// withCertificate returns the transport that presents the certificate in pfx to any server that requests one.
func (c *Client) withCertificate(ctx context.Context, pfx, password string) (http.RoundTripper, error) {
	return c.certified.Get(lru.Digest(pfx, password), func() (transport, error) {
		decoded, err := decodePFX(ctx, pfx, password)
		if err != nil {
			return nil, err
		}
		if c.config.Transport != nil {
			return nil, errors.New("cannot be used: this process has a transport of its own")
		}
		return newTransport(&c.config, decoded), nil
	})
}
