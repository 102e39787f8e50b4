package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Mode says how strictly tokens are checked.
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
	// Keys are the shared access keys by name. A key is used as the bytes of its text, whatever it looks like.
	Keys map[string]string
}

// The key that Microsoft's emulator has.
const (
	DefaultName = "RootManageSharedAccessKey"
	DefaultKey  = "SAS_KEY_VALUE"
)

const scheme = "SharedAccessSignature "

// Token checks a token, be it a shared access signature or a web token, for an audience such as "amqp://host/queue". It returns
// until when the token is good.
func (k Keyring) Token(token, audience string, now time.Time) (time.Time, error) {
	if k.Mode == Off {
		return now.Add(24 * time.Hour), nil
	}
	fields, ok := strings.CutPrefix(token, scheme)
	if !ok {
		if k.Mode != Strict && token != "" {
			return now.Add(time.Hour), nil
		}
		return time.Time{}, denied("the token is not a shared access signature")
	}
	values := map[string]string{}
	for field := range strings.SplitSeq(fields, "&") {
		name, value, _ := strings.Cut(field, "=")
		values[name] = value
	}
	expiry, err := strconv.ParseInt(values["se"], 10, 64)
	if err != nil || values["sr"] == "" || values["sig"] == "" {
		return time.Time{}, denied("the token is malformed")
	}
	until := time.Unix(expiry, 0)
	if !until.After(now) {
		return time.Time{}, refused("ExpiredToken: The token is expired. Expiration time:'" + until.UTC().Format(time.RFC1123) + "'.")
	}
	if k.Mode != Strict {
		return until, nil
	}
	return until, k.verify(values, audience)
}

// verify checks the signature of a token and that its resource covers the audience.
func (k Keyring) verify(values map[string]string, audience string) error {
	name, err := url.QueryUnescape(values["skn"])
	if err != nil {
		return denied("the name of the key is malformed")
	}
	key, ok := k.Keys[name]
	if !ok {
		return denied("there is no key of the name " + strconv.Quote(name))
	}
	signature, err := url.QueryUnescape(values["sig"])
	if err != nil {
		return denied("the signature is malformed")
	}
	if !hmac.Equal([]byte(signature), []byte(sign(key, values["sr"], values["se"]))) {
		return refused("InvalidSignature: The token has an invalid signature.")
	}
	resource, err := url.QueryUnescape(values["sr"])
	if err != nil || !covers(Path(resource), Path(audience)) {
		return denied("the token is for " + strconv.Quote(resource))
	}
	return nil
}

// sign returns the signature over a resource as it stands in the token and an expiry.
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

// Password checks the name and the text of a key, as SASL PLAIN carries them.
func (k Keyring) Password(name, key string) error {
	if k.Mode != Strict {
		return nil
	}
	want, ok := k.Keys[name]
	if !ok || subtle.ConstantTimeCompare([]byte(want), []byte(key)) != 1 {
		return denied("the key is wrong")
	}
	return nil
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

// A refused token is one that the service has words for, to which clients add theirs.
type refused string

func (r refused) Error() string { return string(r) }

// Unwrap makes it one of ErrDenied.
func (refused) Unwrap() error { return ErrDenied }
