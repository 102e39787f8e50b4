package web

import (
	"context"
	"net/url"
	"strings"

	"github.com/carillon-sched/carillon/actions/lru"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// loginEndpoint is the default of [Config] LoginEndpoint.
var loginEndpoint = &url.URL{Scheme: "https", Host: "login.microsoftonline.com"}

// oauth is authentication by a bearer token that is asked for with the client
// credentials grant (RFC 6749, section 4.4).
type oauth struct {
	tokenRequest

	client *Client
	secret document.Secret
}

// tokenRequest is a request for a token, without the secret.
type tokenRequest struct {
	endpoint *url.URL
	clientID string
	inHeader bool     // the client authenticates by a header, not in the body
	form     []string // names and values of further parameters
}

// readDirectory reads what Azure Scheduler calls ActiveDirectoryOAuth: Entra
// ID's first token endpoint, which takes a resource and not a scope.
func readDirectory(c *Client, o *document.Object) authentication {
	a := &oauth{client: c}
	tenant := needed(o, "tenant")
	if tenant != "" && (strings.Trim(tenant, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") != "" ||
		strings.Trim(tenant, ".") == "") {
		o.Problem("tenant", "is not an id or a domain name")
	}
	a.endpoint = c.login.JoinPath(tenant, "oauth2", "token")
	audience := needed(o, "audience")
	a.form = []string{"resource", audience}
	a.readClient(o)
	return a
}

// readOAuth2 reads the general form, for any token server.
func readOAuth2(c *Client, o *document.Object) authentication {
	a := &oauth{client: c}
	if text, ok := o.String("tokenUrl"); ok {
		u, err := parseURI(text, false)
		if err != nil {
			o.Problem("tokenUrl", "%v", err)
		}
		a.endpoint = u
	}
	for _, name := range []string{"scope", "audience"} {
		if text, ok := o.String(name); ok && text != "" {
			a.form = append(a.form, name, text)
		}
	}
	style, ok := o.Enum("authStyle", "header", "body")
	a.inHeader = !ok || style == "header"
	a.readClient(o)
	o.Require("tokenUrl")
	return a
}

func (a *oauth) readClient(o *document.Object) {
	a.clientID = needed(o, "clientId")
	a.secret, _ = o.Secret("secret")
	o.Require("secret")
}

// needed reads a string that must be there and not be empty.
func needed(o *document.Object, name string) string {
	text, ok := o.String(name)
	if ok && text == "" {
		o.Problem(name, "must not be empty")
	}
	o.Require(name)
	return text
}

func (a *oauth) authenticate(ctx context.Context, at scheduler.Attempt, stale string) (credential, error) {
	secret, err := at.Reveal(a.secret)
	if err != nil {
		return credential{}, unready(err)
	}
	var header string
	if a.inHeader { // both are encoded like a form first (RFC 6749, section 2.3.1)
		header = basicHeader(at, url.QueryEscape(a.clientID), url.QueryEscape(secret))
	}
	entry, err := a.client.tokens.Get(a.key(secret), func() (*tokenEntry, error) { return new(tokenEntry), nil })
	if err != nil {
		return credential{}, err
	}
	token, err := entry.get(ctx, stale, func() (token, error) {
		return a.client.requestToken(ctx, at.Timeout, &a.tokenRequest, secret, header)
	})
	if err != nil {
		return credential{}, err
	}
	at.Hide(token)
	return credential{authorization: "Bearer " + token, token: token}, nil
}

// key finds the token in the cache: jobs that ask for the same with the same
// secret share it.
func (r *tokenRequest) key(secret string) lru.Key {
	style := "body"
	if r.inHeader {
		style = "header"
	}
	return lru.Digest(append([]string{r.endpoint.String(), r.clientID, secret, style}, r.form...)...)
}
