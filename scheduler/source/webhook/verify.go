package webhook

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // old senders sign with it
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"hash"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/source"
)

// ErrUnverified is the error of a request whose sender is not the expected one. Its cause is for the log, not for the
// sender.
var ErrUnverified = errors.New("the sender is not verified")

// check is the verification of one request.
type check struct {
	*source.Webhook

	secret string
	header http.Header
	body   []byte
	now    time.Time
}

// Verify verifies the sender of a request. The error matches [ErrUnverified].
func Verify(w *source.Webhook, secret string, header http.Header, body []byte, now time.Time) error {
	c := check{w, secret, header, body, now}
	if secret == "" && w.Verify.Scheme != source.None {
		return unverified("the source has an empty secret")
	}
	switch w.Verify.Scheme {
	case source.Standard:
		return c.standard()
	case source.GitHub:
		return c.signed("X-Hub-Signature-256", "sha256=", sha256.New, hex.DecodeString)
	case source.Stripe:
		return c.stripe()
	case source.HMAC:
		v := &w.Verify
		return c.signed(v.Header, v.Prefix, hashes[v.Algorithm], encodings[v.Encoding])
	case source.Basic:
		return c.basic()
	case source.Token:
		return c.token()
	case source.None:
		return nil
	}
	return unverified("the source has an unknown scheme")
}

// The hash functions and encodings of the scheme hmac.
var (
	hashes    = map[string]func() hash.Hash{"sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New}
	encodings = map[string]func(string) ([]byte, error){"hex": hex.DecodeString, "base64": base64.StdEncoding.DecodeString}
)

func unverified(reason string) error { return errors.Join(ErrUnverified, errors.New(reason)) }

func mac(h func() hash.Hash, key []byte, texts ...[]byte) []byte {
	m := hmac.New(h, key)
	for _, text := range texts {
		_, _ = m.Write(text)
	}
	return m.Sum(nil)
}

// signed verifies the HMAC of the body in a header.
func (c *check) signed(name, prefix string, h func() hash.Hash, decode func(string) ([]byte, error)) error {
	return anyOf(name, []string{c.header.Get(name)}, prefix, decode, mac(h, []byte(c.secret), c.body))
}

// standard verifies a signature of Standard Webhooks (https://www.standardwebhooks.com). A sender that changes its
// secret signs with both.
func (c *check) standard() error {
	key, err := source.StandardKey(c.secret)
	if err != nil {
		return unverified("secret: " + err.Error())
	}
	id, at := c.header.Get("Webhook-Id"), c.header.Get("Webhook-Timestamp")
	if id == "" || strings.Contains(id, ".") { // with a dot, another ID and timestamp have the same signature
		return unverified("header Webhook-Id: is missing, or contains a dot")
	}
	if err := c.recent(at); err != nil {
		return err
	}
	given := strings.Fields(c.header.Get("Webhook-Signature"))
	return anyOf("Webhook-Signature", given, "v1,", base64.StdEncoding.DecodeString, mac(sha256.New, key, []byte(id+"."+at+"."), c.body))
}

// stripe verifies a signature of Stripe (https://docs.stripe.com/webhooks/signature).
func (c *check) stripe() error {
	at, given := "", strings.Split(c.header.Get("Stripe-Signature"), ",")
	for i, part := range given {
		given[i] = strings.TrimSpace(part)
		if text, ok := strings.CutPrefix(given[i], "t="); ok {
			at = text
		}
	}
	if err := c.recent(at); err != nil {
		return err
	}
	return anyOf("Stripe-Signature", given, "v1=", hex.DecodeString, mac(sha256.New, []byte(c.secret), []byte(at+"."), c.body))
}

// anyOf checks that one of the signatures with a prefix is the right one.
func anyOf(header string, given []string, prefix string, decode func(string) ([]byte, error), want []byte) error {
	for _, one := range given {
		text, ok := strings.CutPrefix(one, prefix)
		if signature, err := decode(text); ok && err == nil && hmac.Equal(signature, want) {
			return nil
		}
	}
	return unverified("header " + header + ": no right signature")
}

// recent checks a timestamp, in seconds since 1970.
func (c *check) recent(text string) error {
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return unverified("the timestamp is missing, or is not a number of seconds")
	}
	if age := c.now.Sub(time.Unix(seconds, 0)).Abs(); age > c.Tolerance {
		return unverified("the timestamp differs from the time of this server by " + age.Round(time.Second).String() +
			", more than the tolerance; check the clocks")
	}
	return nil
}

// basic verifies a user and a password (RFC 7617).
func (c *check) basic() error {
	r := http.Request{Header: c.header}
	user, password, ok := r.BasicAuth()
	if known, right := same(user, c.Verify.User), same(password, c.secret); !ok || !known || !right {
		return unverified("header Authorization: wrong user or password")
	}
	return nil
}

// token verifies a token in a header, by default a bearer token (RFC 6750).
func (c *check) token() error {
	name, given := c.Verify.Header, c.header.Get(c.Verify.Header)
	if name == "" {
		name = "Authorization"
		scheme, text, _ := strings.Cut(c.header.Get(name), " ")
		if given = text; !strings.EqualFold(scheme, "Bearer") {
			given = ""
		}
	}
	if !same(strings.TrimSpace(given), c.secret) {
		return unverified("header " + name + ": wrong token")
	}
	return nil
}

// same compares texts in constant time, also texts of different lengths.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
