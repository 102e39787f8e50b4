package auth

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
)

// maxSkew limits the clock skew of a request.
const maxSkew = 15 * time.Minute

// A scheme is a way of signing in the Authorization header.
type scheme string

const (
	sharedKey     scheme = "SharedKey"
	sharedKeyLite scheme = "SharedKeyLite"
)

// An authorization is the value of the header: SharedKey account:signature.
type authorization struct {
	scheme    scheme
	account   string
	signature string
}

func parseAuthorization(header string) (authorization, bool) {
	name, rest, _ := strings.Cut(strings.TrimSpace(header), " ")
	account, signature, ok := strings.Cut(strings.TrimSpace(rest), ":")
	a := authorization{scheme: scheme(name), account: account, signature: signature}
	known := a.scheme == sharedKey || a.scheme == sharedKeyLite
	return a, ok && known && account != "" && signature != ""
}

// A Request has the signed parts of an HTTP request, and its operation.
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

func (r *Request) verifyHeader(header string, key []byte, now time.Time) error {
	a, ok := parseAuthorization(header)
	if !ok {
		return wire.InvalidAuthentication
	}
	if !strings.EqualFold(a.account, r.Account) {
		return denied("The account " + a.account + " of the Authorization header is not that of the URL.")
	}
	if err := r.verifyDate(now); err != nil {
		return err
	}
	r.Account = a.account // the client signs with its own spelling
	var text string
	for _, path := range r.paths() {
		text = r.stringToSign(a.scheme, path)
		if signed(key, text, a.signature) {
			return nil
		}
	}
	return denied("The MAC signature found in the HTTP request '" + a.signature +
		"' is not the same as any computed signature. Server used following string to sign: '" + text + "'.")
}

// paths returns what may have been signed as the path: as it was sent, or with the name of the primary for a secondary.
func (r *Request) paths() []string {
	first, rest, _ := strings.Cut(strings.TrimPrefix(r.Path, "/"), "/")
	if first != r.Account+"-secondary" {
		return []string{r.Path}
	}
	return []string{"/" + r.Account + "/" + rest, r.Path}
}

func (r *Request) verifyDate(now time.Time) error {
	value := cmp.Or(r.Header.Get("X-Ms-Date"), r.Header.Get("Date"))
	date, err := http.ParseTime(value)
	switch {
	case err != nil:
		return denied("The Date header in the request is missing or not valid: '" + value + "'.")
	case date.Before(now.Add(-maxSkew)):
		return denied("Request date header too old: '" + value + "'.")
	case date.After(now.Add(maxSkew)):
		return denied("Request date header too far in the future: '" + value + "'.")
	}
	return nil
}

func (r *Request) stringToSign(scheme scheme, path string) string {
	date := r.header("Date")
	if r.Header.Get("X-Ms-Date") != "" {
		date = ""
	}
	resource := "/" + r.Account + path
	var lines []string
	if scheme == sharedKeyLite {
		lines = []string{r.Method, r.header("Content-MD5"), r.header("Content-Type"), date}
		if comp := r.Query.Get("comp"); comp != "" {
			resource += "?comp=" + comp
		}
	} else {
		length := ""
		if r.Length > 0 {
			length = strconv.FormatInt(r.Length, 10)
		}
		lines = []string{
			r.Method, r.header("Content-Encoding"), r.header("Content-Language"), length,
			r.header("Content-MD5"), r.header("Content-Type"), date,
			r.header("If-Modified-Since"), r.header("If-Match"), r.header("If-None-Match"),
			r.header("If-Unmodified-Since"), r.header("Range"),
		}
		resource += r.canonicalQuery()
	}
	return strings.Join(append(lines, r.canonicalHeaders()+resource), "\n")
}

func (r *Request) header(name string) string {
	return strings.TrimSpace(r.Header.Get(name))
}

// canonicalHeaders is a line for each header of the service.
func (r *Request) canonicalHeaders() string {
	lines := map[string]string{}
	for name, values := range r.Header {
		lower := strings.ToLower(name)
		if !strings.HasPrefix(lower, "x-ms-") {
			continue
		}
		trimmed := make([]string, len(values))
		for i, value := range values {
			trimmed[i] = strings.TrimSpace(value)
		}
		lines[lower] = strings.Join(trimmed, ",")
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		b.WriteString(name + ":" + lines[name] + "\n")
	}
	return b.String()
}

// canonicalQuery is a line for each parameter.
func (r *Request) canonicalQuery() string {
	lines := map[string][]string{}
	for name, values := range r.Query {
		lower := strings.ToLower(name)
		lines[lower] = append(lines[lower], values...)
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		slices.Sort(lines[name])
		b.WriteString("\n" + name + ":" + strings.Join(lines[name], ","))
	}
	return b.String()
}

// A Need is the permission that a signature in the URL must grant.
type Need struct {
	Resource byte   // resource type for the signature of an account: 's', 'c' or 'o'
	Account  string // an account signature needs one of these permissions; "": none suffices
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

// signed reports whether signature is the base64 signature of the text.
func signed(key []byte, text, signature string) bool {
	sum, err := base64.StdEncoding.DecodeString(signature)
	return err == nil && hmac.Equal(sum, sign(key, text))
}
