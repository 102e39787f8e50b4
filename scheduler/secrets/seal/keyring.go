package seal

import (
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"
)

// Keyring holds the keys of a process. It is immutable and safe for concurrent use. A nil Keyring has no keys.
type Keyring struct {
	keys []Key // the first one seals
}

// NewKeyring returns a keyring. The first key seals.
func NewKeyring(first Key, more ...Key) *Keyring { return &Keyring{append([]Key{first}, more...)} }

// The errors of a key file.
var (
	errShape = errors.New("is not of the form <id>:<base64 of 32 bytes>")
	errNone  = errors.New("there is no key in it")
)

// ParseKeys parses a key file: one key per line, except empty lines and lines that begin with #. The error lists every
// invalid line by number, without its content.
func ParseKeys(text string) (*Keyring, error) {
	r := &Keyring{}
	var wrong []error
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\uFEFF")) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		k, err := readKey(line)
		if err == nil && r.find(k.id) != nil {
			err = fmt.Errorf("key %q: the id is used before", k.id)
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("line %d: %w", n, err))
			continue
		}
		r.keys = append(r.keys, k)
	}
	switch {
	case len(wrong) > 0:
		return nil, errors.Join(wrong...)
	case len(r.keys) == 0:
		return nil, errNone
	}
	return r, nil
}

// First returns the ID of the sealing key, "" for an empty keyring.
func (r *Keyring) First() string {
	if r == nil || len(r.keys) == 0 {
		return ""
	}
	return r.keys[0].id
}

// IDs returns the IDs of all keys, the sealing key first.
func (r *Keyring) IDs() []string {
	if r == nil {
		return nil
	}
	ids := make([]string, len(r.keys))
	for i, k := range r.keys {
		ids[i] = k.id
	}
	return ids
}

// Format prints the ids alone.
func (r *Keyring) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "keys %q", r.IDs()) }

func (r *Keyring) find(id string) *Key {
	if r == nil {
		return nil
	}
	for i := range r.keys {
		if r.keys[i].id == id {
			return &r.keys[i]
		}
	}
	return nil
}

// The errors of sealing and opening.
var (
	// ErrNoKey means that the keyring has no key to seal with, or lacks the key of a sealed text.
	ErrNoKey = errors.New("the key is not known here")

	// ErrDamaged means that a sealed text is malformed, was changed, or was sealed for another place.
	ErrDamaged = errors.New("the sealed text is damaged, or was sealed for another place")
)

// version begins every sealed text.
const version = "v1"

// encoding accepts a single spelling of nonce and ciphertext: any other text that decodes to the same bytes is damaged.
// The decoder skips line breaks, so Open rejects these itself.
var encoding = base64.RawURLEncoding.Strict()

// Seal encrypts a secret for a place, such as "job default/hello action.request.authentication.password". It returns
// [ErrNoKey] for an empty keyring.
func (r *Keyring) Seal(place, secret string) (string, error) {
	if r.First() == "" {
		return "", ErrNoKey
	}
	k := &r.keys[0]
	nonce := make([]byte, k.aead.NonceSize(), k.aead.NonceSize()+len(secret)+k.aead.Overhead())
	_, _ = rand.Read(nonce) // never fails
	head := version + "." + k.id + "."
	return head + encoding.EncodeToString(k.aead.Seal(nonce, nonce, []byte(secret), binding(head, place))), nil
}

// Open decrypts a text that was sealed for that place. It returns [ErrNoKey] if the keyring lacks the key, and
// [ErrDamaged] if authentication fails.
func (r *Keyring) Open(place, sealed string) (string, error) {
	id := KeyID(sealed)
	if id == "" {
		return "", ErrDamaged
	}
	k := r.find(id)
	if k == nil {
		return "", fmt.Errorf("%w: it was sealed with key %q", ErrNoKey, id)
	}
	head := version + "." + id + "."
	body := sealed[len(head):]
	data, err := encoding.DecodeString(body)
	if err != nil || strings.ContainsAny(body, "\r\n") || len(data) < k.aead.NonceSize() {
		return "", ErrDamaged
	}
	nonce, text := data[:k.aead.NonceSize()], data[k.aead.NonceSize():]
	plain, err := k.aead.Open(nil, nonce, text, binding(head, place))
	if err != nil {
		return "", ErrDamaged
	}
	return string(plain), nil
}

// binding returns the additional authenticated data. A key ID contains no line break, so the boundary of head and place
// is unambiguous.
func binding(head, place string) []byte { return []byte(head + "\n" + place) }

// KeyID returns the ID of the key of a sealed text, "" for any other text.
func KeyID(sealed string) string {
	rest, ok := strings.CutPrefix(sealed, version+".")
	if !ok {
		return ""
	}
	id, _, ok := strings.Cut(rest, ".")
	if !ok || checkID(id) != "" {
		return ""
	}
	return id
}

// Key is a key with its ID. It prints as its ID.
type Key struct {
	id     string
	secret []byte
	aead   cipher.AEAD
}

// maxID is the maximum length of a key ID in bytes.
const maxID = 32

// NewKey returns a random key. The ID consists of 1 to 32 letters, digits, hyphens and underscores.
func NewKey(id string) (Key, error) {
	if problem := checkID(id); problem != "" {
		return Key{}, fmt.Errorf("key id: %s", problem)
	}
	secret := make([]byte, chacha20poly1305.KeySize)
	_, _ = rand.Read(secret) // never fails
	return newKey(id, secret)
}

func newKey(id string, secret []byte) (Key, error) {
	aead, err := chacha20poly1305.NewX(secret)
	return Key{id, secret, aead}, err
}

// ID returns the key's ID, which is not secret.
func (k Key) ID() string { return k.id }

// Text returns the key's line in a key file.
func (k Key) Text() string { return k.id + ":" + base64.StdEncoding.EncodeToString(k.secret) }

// Format prints the id alone.
func (k Key) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "key %q", k.id) }

// checkID returns the problem of a key ID, "" if it is valid. It does not quote the ID, because a line without an ID
// begins with the key.
func checkID(id string) string {
	switch {
	case id == "":
		return "must not be empty"
	case len(id) > maxID:
		return fmt.Sprintf("is longer than %d characters", maxID)
	case strings.ContainsFunc(id, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_'
	}):
		return "may hold letters, digits, - and _ only"
	}
	return ""
}

// readKey parses a line of a key file.
func readKey(line string) (Key, error) {
	id, text, ok := strings.Cut(line, ":")
	if !ok {
		return Key{}, errShape
	}
	if problem := checkID(id); problem != "" {
		return Key{}, fmt.Errorf("the id %s", problem)
	}
	secret, ok := decodeKey(strings.TrimSpace(text))
	if !ok {
		return Key{}, fmt.Errorf("key %q: what follows the colon is not base64", id)
	}
	if len(secret) != chacha20poly1305.KeySize {
		return Key{}, fmt.Errorf("key %q: has %d bytes, not %d", id, len(secret), chacha20poly1305.KeySize)
	}
	return newKey(id, secret)
}

// decodeKey decodes base64 in both alphabets, with or without padding.
func decodeKey(text string) ([]byte, bool) {
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	secret, err := base64.RawStdEncoding.DecodeString(text)
	return secret, err == nil
}
