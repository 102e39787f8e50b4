package lru

import (
	"crypto/sha256"
	"encoding/binary"
)

// Key stands for texts.
type Key = [sha256.Size]byte

// Digest returns a key that stands for texts without keeping them, as some are secrets. Each goes with its length, so
// that no two lists have the same texts in another division.
func Digest(texts ...string) Key {
	var b []byte
	for _, text := range texts {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	return sha256.Sum256(b)
}
