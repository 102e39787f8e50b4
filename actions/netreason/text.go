package netreason

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Cut returns at most the first limit bytes of a text, as valid UTF-8: it drops a character that would be cut
// and replaces invalid bytes by U+FFFD.
func Cut(text string, limit int) string {
	if len(text) > limit+utf8.UTFMax {
		text = text[:limit+utf8.UTFMax] // what follows cannot matter
	}
	if !utf8.ValidString(text[:End(text, limit)]) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	return text[:End(text, limit)]
}

// Line returns the beginning of a text as one line, at most limit bytes of
// valid UTF-8: control characters count as white space, and each run of that
// becomes one space.
func Line(text string, limit int) string {
	return Cut(strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " "), limit)
}

// End returns the greatest index up to limit at which a text can be cut
// without splitting a character.
func End[T ~string | ~[]byte](text T, limit int) int {
	if len(text) <= limit {
		return len(text)
	}
	for end := limit; end >= 0 && limit-end < utf8.UTFMax; end-- {
		if utf8.RuneStart(text[end]) {
			return end
		}
	}
	return limit // not UTF-8
}
