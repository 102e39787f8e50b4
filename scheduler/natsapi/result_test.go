package natsapi

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzResultName checks that whatever the subject of a spec was, its result
// has a subject that can be published to.
func FuzzResultName(f *testing.F) {
	for _, name := range []string{"", "default.job", "a..b", ".", "a.", "*.>", "a b\r\nc", "\xff", strings.Repeat("ä", 300)} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := resultName(name)
		if (got == "") != (name == "") || len(got) > 3*longestName || !utf8.ValidString(got) {
			t.Errorf("%q: got %q", name, got)
		}
		if got != "" && strings.Contains("."+got+".", "..") || strings.ContainsAny(got, "*> \t\r\n\x00") {
			t.Errorf("%q: got %q", name, got)
		}
	})
}
