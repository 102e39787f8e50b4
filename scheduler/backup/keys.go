package backup

import (
	"bytes"
	"slices"
)

// sealedText is what begins a sealed text in JSON, before the id of its key: see package seal.
var sealedText = [][]byte{[]byte(`"$sealed":"v1.`), []byte(`"sealed":"v1.`)}

// maxKeys is how many ids of keys are told.
const maxKeys = 64

// keysIn adds the ids of the keys that seal texts in data to those that are known, in their order.
func keysIn(data []byte, known []string) []string {
	for _, mark := range sealedText {
		for rest := data; ; {
			at := bytes.Index(rest, mark)
			if at < 0 {
				break
			}
			rest = rest[at+len(mark):]
			end := bytes.IndexByte(rest[:min(len(rest), 33)], '.')
			if end < 0 {
				continue
			}
			place, found := slices.BinarySearch(known, string(rest[:end]))
			if !found && len(known) < maxKeys {
				known = slices.Insert(known, place, string(rest[:end]))
			}
		}
	}
	return known
}
