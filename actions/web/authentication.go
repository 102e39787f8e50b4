package web

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/carillon-sched/carillon/actions/payload"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// authentication is how an attempt proves to its target who sends it.
type authentication interface {
	// authenticate returns the credential of an attempt. stale is a token that the
	// target did not accept; "" when it has seen none. The error is a
	// [failure], or ctx's.
	authenticate(ctx context.Context, at scheduler.Attempt, stale string) (credential, error)
}

// credential holds the credentials of a request.
type credential struct {
	authorization string            // the header; empty: none
	token         string            // in authorization, when another can be asked for
	transport     http.RoundTripper // with a client certificate; nil: the client's own
}

// The authentication types, in canonical spelling. The first four are Azure
// Scheduler's (its documentation, Scheduler Outbound Authentication).
const (
	authNone        = "NotSpecified"
	authBasic       = "Basic"
	authCertificate = "ClientCertificate"
	authDirectory   = "ActiveDirectoryOAuth"
	authOAuth2      = "OAuth2"
)

// readAuthentication reads request.authentication.
func (r *request) readAuthentication(c *Client, o *document.Object) {
	ao, ok := o.Object("authentication")
	kinds := []string{authNone, authBasic, authCertificate, authDirectory, authOAuth2}
	if !ok || ao.EachKind(func(ao *document.Object) { r.readTyped(c, o, ao, kinds) }, kinds...) {
		return
	}
	r.readTyped(c, o, ao, kinds)
}

// readTyped reads an authentication and its type, one of kinds.
func (r *request) readTyped(c *Client, o, ao *document.Object, kinds []string) {
	kind, ok := ao.Enum("type", kinds...)
	if !ok {
		ao.Require("type")
		return // what else belongs there depends on the type
	}
	ao.Ignore(certificateMembers...)
	var shown []document.Member
	switch kind {
	case authBasic:
		r.auth = readBasic(ao)
	case authCertificate:
		r.auth, shown = r.readCertificate(c, o, ao)
	case authDirectory:
		r.auth = readDirectory(c, ao)
	case authOAuth2:
		r.auth = readOAuth2(c, ao)
	}
	ao.Done()
	if !ao.Reader().Stored {
		show(o, shown)
	}
	if r.authorizes() && r.gives(headerAuthorization) {
		o.Problem("headers."+headerAuthorization, "clashes with authentication, which sets it")
	}
}

// authorizes reports whether the authentication sets the Authorization header.
func (r *request) authorizes() bool {
	if r.auth == nil {
		return false
	}
	_, certificate := r.auth.(*certificate)
	return !certificate
}

// basic is HTTP Basic authentication (RFC 7617), in UTF-8.
type basic struct {
	username string
	password document.Secret
}

func readBasic(o *document.Object) authentication {
	b := new(basic)
	b.username, _ = o.String("username")
	b.password, _ = o.Secret("password")
	if o.Require("username") && (strings.Contains(b.username, ":") || !payload.IsHeaderValue(b.username)) {
		o.Problem("username", "must not contain a colon or control characters")
	}
	o.Require("password")
	return b
}

func (b *basic) authenticate(_ context.Context, at scheduler.Attempt, _ string) (credential, error) {
	password, err := at.Reveal(b.password)
	if err != nil {
		return credential{}, unready(err)
	}
	return credential{authorization: basicHeader(at, b.username, password)}, nil
}

// basicHeader returns the value of an Authorization header.
func basicHeader(at scheduler.Attempt, username, password string) string {
	pair := base64.StdEncoding.EncodeToString([]byte(username + ":" + password))
	at.Hide(pair)
	return "Basic " + pair
}
