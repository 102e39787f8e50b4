package tokens

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"math/big"
	"regexp"
	"strings"
)

// Prefix begins every token.
const Prefix = "crl_"

// The parts of a token: id and secret are random, the checksum is of all before it.
const (
	idLength       = 10 // 50 bits of base 32: ids do not repeat, and need not be secret
	secretBytes    = 32 // 256 bits: what cannot be guessed
	secretLength   = 43 // as many in base 62
	checksumLength = 6  // 32 bits in base 62
)

// form is what a token looks like; scanners may look for it.
var form = regexp.MustCompile(`^crl_[a-z2-7]{10}_[0-9A-Za-z]{49}$`)

// newText returns a new token and its id.
func newText() (id, text string) {
	var secret [secretBytes]byte
	_, _ = rand.Read(secret[:])                  // never fails
	id = strings.ToLower(rand.Text()[:idLength]) // base 32
	text = Prefix + id + "_" + base62(secret[:], secretLength)
	return id, text + checksum(text)
}

// read returns the id of a token, or false for a text that is none.
func read(text string) (id string, ok bool) {
	if !form.MatchString(text) {
		return "", false
	}
	end := len(text) - checksumLength
	return text[len(Prefix):][:idLength], checksum(text[:end]) == text[end:]
}

// WellFormed reports whether a text can be the id of a token.
func WellFormed(id string) bool {
	return len(id) == idLength && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// hash is what is stored of a token.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// checksum is the CRC-32 (IEEE) of a text.
func checksum(text string) string {
	sum := crc32.ChecksumIEEE([]byte(text))
	return base62([]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}, checksumLength)
}

// base62 writes a number with digits and letters, in which a double click selects it, padded with zeros.
func base62(number []byte, length int) string {
	const base = 62 // the digits of [big.Int.Text]: 0-9, a-z, A-Z
	text := new(big.Int).SetBytes(number).Text(base)
	return strings.Repeat("0", length-len(text)) + text
}
