package seal

import (
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"
)

// Key is a key with its id. It prints as its id.
type Key struct {
	id     string
	secret []byte
	aead   cipher.AEAD
}

// maxID is the length in bytes of the longest key id.
const maxID = 32

// NewKey makes a random key. The id must be 1 to 32 letters, digits, hyphens
// and underscores.
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

// ID returns the key's id, which is no secret.
func (k Key) ID() string { return k.id }

// Text returns the line of a key file that holds the key.
func (k Key) Text() string { return k.id + ":" + base64.StdEncoding.EncodeToString(k.secret) }

// Format prints the id alone.
func (k Key) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "key %q", k.id) }

// checkID says what is wrong with a key id, "" when nothing is. It does not
// repeat the id: a line without one begins with the key.
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

// readKey reads a line of a key file.
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

// decodeKey reads base64 in both alphabets, with padding or without.
func decodeKey(text string) ([]byte, bool) {
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	secret, err := base64.RawStdEncoding.DecodeString(text)
	return secret, err == nil
}
