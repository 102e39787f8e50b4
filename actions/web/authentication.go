package web

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

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
	token         string            // in authorization, if it can be renewed
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

// The headers of a signed request (Standard Webhooks 1.0), in canonical
// spelling.
const (
	headerWebhookID        = "Webhook-Id"
	headerWebhookTime      = "Webhook-Timestamp"
	headerWebhookSignature = "Webhook-Signature"
)

var webhookHeaders = []string{headerWebhookID, headerWebhookTime, headerWebhookSignature}

// The lengths in bytes of a signing key (Standard Webhooks, "Signature scheme").
const (
	minWebhookKey = 24
	maxWebhookKey = 64
	webhookPrefix = "whsec_"
)

// webhook are the secrets that requests are signed with: the present one and,
// while receivers change over, the previous one.
type webhook []document.Secret

// readWebhook reads request.webhook.
func (r *request) readWebhook(o *document.Object) {
	wo, ok := o.Object("webhook")
	if !ok {
		return
	}
	defer wo.Done()
	wo.Require("secret")
	for _, name := range []string{"secret", "previousSecret"} {
		s, ok := wo.Secret(name)
		if !ok {
			continue
		}
		if text, literal := s.Literal(); literal {
			if _, err := webhookKey(text); err != nil {
				wo.Problem(name, "%v", err)
			}
		}
		r.webhook = append(r.webhook, s)
	}
	for _, name := range webhookHeaders {
		if r.gives(name) {
			o.Problem("headers."+name, "clashes with webhook, which sets it")
		}
	}
}

// webhookKey decodes the key of a secret. Its error does not contain the secret.
func webhookKey(secret string) ([]byte, error) {
	text, ok := strings.CutPrefix(secret, webhookPrefix)
	if !ok {
		return nil, errors.New("must be " + webhookPrefix + " and the key in base64")
	}
	key, err := base64.StdEncoding.DecodeString(text)
	switch {
	case err != nil:
		return nil, errors.New("is not base64 after " + webhookPrefix)
	case len(key) < minWebhookKey || len(key) > maxWebhookKey:
		return nil, fmt.Errorf("has a key of %d bytes, must be %d to %d", len(key), minWebhookKey, maxWebhookKey)
	}
	return key, nil
}

// keys returns the keys that sign an attempt.
func (w webhook) keys(at scheduler.Attempt) ([][]byte, error) {
	var keys [][]byte
	for _, s := range w {
		text, err := at.Reveal(s)
		if err != nil {
			return nil, unready(err)
		}
		at.Hide(strings.TrimPrefix(text, webhookPrefix))
		key, err := webhookKey(text)
		if err != nil {
			return nil, unready(fmt.Errorf("the secret of webhook %w", err))
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// sign sets the headers that prove that a request with that body comes from a
// holder of the keys.
func sign(h http.Header, at scheduler.Attempt, sent time.Time, body string, keys [][]byte) {
	timestamp := strconv.FormatInt(sent.Unix(), 10)
	signatures := make([]string, 0, len(keys))
	for _, key := range keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(at.Key + "." + timestamp + "." + body))
		signature := base64.StdEncoding.EncodeToString(mac.Sum(nil))
		at.Hide(signature)
		signatures = append(signatures, "v1,"+signature)
	}
	h[headerWebhookID] = []string{at.Key}
	h[headerWebhookTime] = []string{timestamp}
	h[headerWebhookSignature] = []string{strings.Join(signatures, " ")}
}
