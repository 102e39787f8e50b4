package frame

import (
	"strings"
	"testing"
)

// FuzzVisible never leaves a character that cannot be seen.
func FuzzVisible(f *testing.F) {
	f.Add("a\u202E\x00\xff\r\n")
	f.Fuzz(func(t *testing.T, s string) {
		if got := Visible(s); strings.ContainsFunc(got, hidden) {
			t.Errorf("%q becomes %q", s, got)
		}
	})
}
