package storagequeue

import (
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/actions/payload"
)

// TestHidden checks what of a token is kept out of records.
func TestHidden(t *testing.T) {
	for text, want := range map[string][]string{
		"TOKEN":               {"TOKEN"},
		"?TOKEN\n":            {"TOKEN"},
		"sv=1&sig=a%2bb%3D":   {"a+b=", "a%2bb%3D"},
		"?sv=1&sig=a+b%3D":    {"a+b=", "a%2Bb%3D"},
		"sig=first&sig=after": {"first", "first", "after", "after"},
	} {
		got, err := parseToken(text, mayAdd)
		if err != nil || !slices.Equal(got.hidden, want) {
			t.Errorf("%q: %q, %v, want %q", text, got.hidden, err, want)
		}
	}
}

// FuzzToken checks that what is accepted can be part of a URL, and that no problem shows a signature.
func FuzzToken(f *testing.F) {
	for _, text := range []string{"TOKEN", "?sv=1&sp=r&sig=abcdefgh", "sig=a%2Bb&se=2026-01-01", "a=%zz", "&&=", "sv=1&sig=%2525abc"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const secret = "SECRETSIGNATURE"
		got, err := parseToken(text+"&sig="+secret, mayAdd)
		if err != nil {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if strings.ContainsFunc(got.query, oddInQuery) || !slices.Contains(got.hidden, secret) {
			t.Errorf("%q: %+v", text, got)
		}
	})
}

// FuzzEncode checks that a text that is taken is not longer than the limit and has no character that XML lacks.
func FuzzEncode(f *testing.F) {
	f.Add("", false)
	f.Add("a\x00b", false)
	f.Add("\xff\ufffe", true)
	f.Fuzz(func(t *testing.T, text string, encoded bool) {
		encoding := encodeNone
		if encoded {
			encoding = encodeBase64
		}
		got, bad := encode(text, encoding)
		if bad != nil {
			return
		}
		if len(got) > maxText || strings.ContainsFunc(got, func(r rune) bool { return !payload.InXML(r) }) || strings.ToValidUTF8(got, "") != got {
			t.Errorf("%q: %q", text, got)
		}
	})
}
