package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Mode is the strictness of token checks.
type Mode string

// The modes. The zero value is Lenient.
const (
	Off     Mode = "off"
	Lenient Mode = "lenient"
	Strict  Mode = "strict"
)

// ParseMode returns the mode of a name; the empty name is Lenient.
func ParseMode(name string) (Mode, error) {
	switch mode := Mode(strings.ToLower(name)); mode {
	case "":
		return Lenient, nil
	case Off, Lenient, Strict:
		return mode, nil
	default:
		return "", fmt.Errorf("mode %q is not off, lenient or strict", name)
	}
}

// ErrDenied is wrapped by every refusal.
var ErrDenied = errors.New("unauthorized access")

// A Keyring checks tokens. The zero value is lenient and has no keys.
type Keyring struct {
	Mode Mode
	// Keys are the shared access keys by name. The bytes of its text are the key, even if it looks like base64.
	Keys map[string]string
	// Rights are what keys may be used for, by their names. Default: everything.
	Rights map[string]Rights
	// Entities returns the keys of all entities. Default: there are none.
	Entities func() []Key
}

// The key that Microsoft's emulator has.
const (
	DefaultName = "RootManageSharedAccessKey"
	DefaultKey  = "SAS_KEY_VALUE"
)

const scheme = "SharedAccessSignature "

// Token checks a token, a shared access signature or a web token, for an audience such as "amqp://host/queue". It
// returns the granted rights and the expiry.
func (k Keyring) Token(token, audience string, now time.Time) (Grant, time.Time, error) {
	if k.Mode == Off {
		return Grant{Rights: All}, now.Add(24 * time.Hour), nil
	}
	fields, ok := strings.CutPrefix(token, scheme)
	if !ok {
		switch {
		case token == "":
			return Grant{}, time.Time{}, denied("the request has no token")
		case k.Mode != Strict:
			return Grant{Rights: All}, now.Add(time.Hour), nil
		}
		return Grant{}, time.Time{}, denied("the token is not a shared access signature")
	}
	values := map[string]string{}
	for field := range strings.SplitSeq(fields, "&") {
		name, value, _ := strings.Cut(field, "=")
		values[name] = value
	}
	expiry, err := strconv.ParseInt(values["se"], 10, 64)
	if err != nil || values["sr"] == "" || values["sig"] == "" {
		return Grant{}, time.Time{}, denied("the token is malformed")
	}
	until := time.Unix(expiry, 0)
	if !until.After(now) {
		expired := "ExpiredToken: The token is expired. Expiration time:'" + until.UTC().Format(time.RFC1123) + "'."
		return Grant{}, time.Time{}, refused(expired)
	}
	if k.Mode != Strict {
		return Grant{Rights: All}, until, nil
	}
	grant, err := k.verify(values, audience)
	return grant, until, err
}

// Request checks that the token of an HTTP request grants one of the rights; refusal is the text of the error if it does not. The
// request needs no token unless the mode is Strict.
func (k Keyring) Request(r *http.Request, needs Rights, refusal string) error {
	token := r.Header.Get("Authorization")
	if token == "" && k.Mode != Strict {
		return nil
	}
	grant, _, err := k.Token(token, "https://"+r.Host+r.URL.Path, time.Now())
	if err == nil && !grant.Rights.Has(needs) {
		return denied(refusal)
	}
	return err
}

// verify checks the signature of a token and that its resource covers the audience.
func (k Keyring) verify(values map[string]string, audience string) (Grant, error) {
	name, err := url.QueryUnescape(values["skn"])
	if err != nil {
		return Grant{}, denied("the name of the key is malformed")
	}
	resource, err := url.QueryUnescape(values["sr"])
	if err != nil {
		return Grant{}, denied("the resource is malformed")
	}
	keys := slices.DeleteFunc(k.named(name), func(key Key) bool { return !covers(key.Entity, Path(resource)) })
	if len(keys) == 0 {
		return Grant{}, denied("there is no key of the name " + strconv.Quote(name))
	}
	signature, err := url.QueryUnescape(values["sig"])
	if err != nil {
		return Grant{}, denied("the signature is malformed")
	}
	for _, key := range keys {
		for _, text := range key.Texts {
			if !hmac.Equal([]byte(signature), []byte(sign(text, values["sr"], values["se"]))) {
				continue
			}
			if !covers(Path(resource), Path(audience)) {
				return Grant{}, denied("the token is for " + strconv.Quote(resource))
			}
			return Grant{Rights: key.Rights, Entity: key.Entity}, nil
		}
	}
	return Grant{}, refused("InvalidSignature: The token has an invalid signature.")
}

// named returns the keys of a name: of the namespace, and then of entities.
func (k Keyring) named(name string) []Key {
	var keys []Key
	if text, ok := k.Keys[name]; ok {
		keys = append(keys, k.ofNamespace(name, text))
	}
	if k.Entities != nil {
		keys = append(keys, slices.DeleteFunc(k.Entities(), func(key Key) bool { return key.Name != name })...)
	}
	return keys
}

// ofNamespace is a key of the whole namespace.
func (k Keyring) ofNamespace(name, text string) Key {
	rights, ok := k.Rights[name]
	if !ok {
		rights = All
	}
	return Key{Name: name, Texts: []string{text}, Rights: rights}
}

// sign returns the signature over an expiry and a resource in the token's spelling.
func sign(key, resource, expiry string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(resource + "\n" + expiry))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// Sign returns a token for a resource.
func Sign(name, key, resource string, expiry time.Time) string {
	escaped := url.QueryEscape(strings.ToLower(resource))
	seconds := strconv.FormatInt(expiry.Unix(), 10)
	signature := url.QueryEscape(sign(key, escaped, seconds))
	return scheme + "sr=" + escaped + "&sig=" + signature + "&se=" + seconds + "&skn=" + url.QueryEscape(name)
}

// Password checks the name and the text of a key from SASL PLAIN, and returns the granted rights.
func (k Keyring) Password(name, text string) (Grant, error) {
	if k.Mode != Strict {
		return Grant{Rights: All}, nil
	}
	for _, key := range k.named(name) {
		for _, of := range key.Texts {
			if subtle.ConstantTimeCompare([]byte(of), []byte(text)) == 1 {
				return Grant{Rights: key.Rights, Entity: key.Entity}, nil
			}
		}
	}
	return Grant{}, denied("the key is wrong")
}

// Path returns the path of an audience or address without scheme, host, query and slashes at the ends, in lower case. The JavaScript
// SDK signs its administration requests with their query.
func Path(address string) string {
	address, _, _ = strings.Cut(strings.ToLower(address), "?")
	if _, rest, ok := strings.Cut(address, "://"); ok {
		_, address, _ = strings.Cut(rest, "/")
	}
	return strings.Trim(address, "/")
}

// covers reports whether a token for one path is good for another below it.
func covers(resource, path string) bool {
	return resource == "" || path == resource || strings.HasPrefix(path, resource+"/")
}

func denied(why string) error { return fmt.Errorf("%w: %s", ErrDenied, why) }

// A refused token is an error with the service's words, to which clients add theirs.
type refused string

func (r refused) Error() string { return string(r) }

// Unwrap makes it one of ErrDenied.
func (refused) Unwrap() error { return ErrDenied }

// Rights are the permissions of a key.
type Rights uint8

// The rights. Manage has the others in it.
const (
	Send Rights = 1 << iota
	Listen
	Manage

	All = Send | Listen | Manage
)

// rightNames are the rights by their names in lower case.
var rightNames = map[string]Rights{"send": Send, "listen": Listen, "manage": All}

// ParseRights reads names of rights, in any case. None are all.
func ParseRights(names []string) (Rights, error) {
	if len(names) == 0 {
		return All, nil
	}
	var rights Rights
	for _, name := range names {
		right, ok := rightNames[strings.ToLower(strings.TrimSpace(name))]
		if !ok {
			return 0, fmt.Errorf("right %q is not Send, Listen or Manage", name)
		}
		rights |= right
	}
	return rights, nil
}

// Has reports whether the rights have one of some others in them.
func (r Rights) Has(others Rights) bool { return r&others != 0 }

// String names the rights as the service's messages do.
func (r Rights) String() string {
	var names []string
	for _, right := range []struct {
		Rights

		name string
	}{{Manage, "Manage"}, {Send, "Send"}, {Listen, "Listen"}} {
		if r.Has(right.Rights) {
			names = append(names, right.name)
		}
	}
	return strings.Join(names, ",")
}

// A Key is a shared access key of an entity.
type Key struct {
	Name   string
	Texts  []string // the primary one and the secondary
	Entity string   // its path
	Rights Rights
}

// A Grant is the result of checking a token.
type Grant struct {
	// Rights are the permissions on the audience, and on paths below it.
	Rights Rights
	// Entity is the path to which the rights are confined; empty for all.
	Entity string
}
