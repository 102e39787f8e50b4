package netreason_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/actions/netreason"
)

func TestCut(t *testing.T) {
	for _, test := range []struct {
		text  string
		limit int
		want  string
	}{
		{"", 0, ""},
		{"abc", 0, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc"},
		{"a\nb", 3, "a\nb"},
		{"ab€", 5, "ab€"},
		{"ab€", 4, "ab"},
		{"ab€", 3, "ab"},
		{"𝄞", 3, ""},
		{"𝄞𝄞", 7, "𝄞"},
		{"a\xffb", 5, "a\uFFFDb"},
		{"a\xffb", 4, "a\uFFFD"},
		{"a\xffb", 3, "a"},
		{"ab\x80\x80\x80\x80\x80\x80", 6, "ab\uFFFD"},
		{"\x80\x80\x80\x80\x80\x80", 2, ""},
		{strings.Repeat("é", 1000), 7, "ééé"},
	} {
		if got := netreason.Cut(test.text, test.limit); got != test.want {
			t.Errorf("%q at %d: got %q, want %q", test.text, test.limit, got, test.want)
		}
	}
}

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"a b":                      "a b",
		" \r\n a \x00\x1b[31m b\t": "a [31m b",
		"a\u0085b\u2028c":          "a b c",
		"a\xffb":                   "a\uFFFDb",
		"aaaaaaaaaaaaaaaaaaaa":     "aaaaaaaaaa",
	} {
		if got := netreason.Line(text, 10); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func FuzzLine(f *testing.F) {
	for _, text := range []string{"", "ab€𝄞", "a\xff\xfe\xf0\x9d\x84", "\x80\x80\x80\x80", " \n\x00\u0085"} {
		for limit := range uint8(6) {
			f.Add(text, limit)
		}
	}
	f.Fuzz(func(t *testing.T, text string, limit uint8) {
		n := int(limit)
		for _, got := range []string{netreason.Cut(text, n), netreason.Line(text, n)} {
			if len(got) > n || !utf8.ValidString(got) {
				t.Errorf("%q at %d: got %q", text, n, got)
			}
		}
		if got := netreason.Line(text, n); strings.ContainsFunc(got, unicode.IsControl) {
			t.Errorf("%q: got %q", text, got)
		}
		if got := netreason.Cut(text, n); utf8.ValidString(text) && (!strings.HasPrefix(text, got) || n-len(got) >= utf8.UTFMax && got != text) {
			t.Errorf("%q at %d: got %q, which leaves out too much", text, n, got)
		}
	})
}
