package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
)

// A Request is what of an HTTP request is signed, and what it asks for.
type Request struct {
	Method  string
	Path    string // as it was sent, escaped
	Query   url.Values
	Header  http.Header
	Length  int64  // of the body; 0 or less for none
	Account string // without "-secondary"
	Queue   string // "" for the account itself
	Secure  bool   // came over TLS
	Remote  netip.Addr
	Need    Need
}

// A Need is what a signature in the URL has to permit.
type Need struct {
	Resource byte   // resource type for the signature of an account: 's', 'c' or 'o'
	Account  string // permissions of which the signature of an account has to have one; "" for none that would do
	Queue    string // the same for the signature of a queue
}

// Policies finds a stored access policy of the request's queue.
type Policies func(id string) (wire.Policy, bool)

// Verify returns nil if the request may be carried out, else a [wire.Error].
func Verify(r Request, key []byte, policies Policies, now time.Time) error {
	if header := r.Header.Get("Authorization"); header != "" {
		return r.verifyHeader(header, key, now)
	}
	if r.Query.Has("sig") {
		return r.verifySAS(key, policies, now)
	}
	return wire.NoAuthentication
}

// denied is a failed authentication with its reason.
func denied(reason string) error {
	return wire.AuthenticationFailed.With("AuthenticationErrorDetail", reason)
}

// sign returns the signature of a text.
func sign(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// signed reports whether the signature, in base64, is that of the text.
func signed(key []byte, text, signature string) bool {
	sum, err := base64.StdEncoding.DecodeString(signature)
	return err == nil && hmac.Equal(sum, sign(key, text))
}
