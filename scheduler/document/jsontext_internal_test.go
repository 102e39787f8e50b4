package document

import (
	"strings"
	"testing"
)

// TestLeading shows that each byte that does not stand for itself is found, wherever it is, and no other.
func TestLeading(t *testing.T) {
	for c := range 0x100 {
		special := c < 0x20 || c == '"' || c == '\\' || c >= 0x80
		for length := range 20 {
			for at := range length {
				for _, rest := range []string{"x", " ", "~", "!", "#", "[", "]", "\x7f"} {
					s := strings.Repeat(rest, at) + string([]byte{byte(c)}) + strings.Repeat(rest, length-at-1)
					want := length
					if special {
						want = at
					}
					if got := leading(s); got != want {
						t.Fatalf("%q has %d plain bytes, want %d", s, got, want)
					}
				}
			}
		}
	}
}
