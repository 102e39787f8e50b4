package secrets

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// appendDecoded appends the decoded first n bytes of text: an escape or a single byte.
func appendDecoded(dst []byte, text string) (decoded []byte, n int) {
	switch text[0] {
	case '\\':
		if dst, n = appendBackslash(dst, text); n > 0 {
			return dst, n
		}
	case '%':
		if c, ok := code(text, 1, 2); ok {
			if c == '+' { // see below
				c = ' '
			}
			return append(dst, byte(c)), 3
		}
	case '&':
		if n = strings.IndexByte(text[:min(len(text), maxEntity)], ';') + 1; n > 2 {
			if char := html.UnescapeString(text[:n]); char != text[:n] {
				return append(dst, strings.ReplaceAll(char, "+", " ")...), n
			}
		}
	case '+': // a space in forms, literal elsewhere: both are treated as a space
		return append(dst, ' '), 1
	}
	return append(dst, text[0]), 1
}

// maxEntity is the maximum length in bytes of an HTML entity to decode; the longest defined one has 33.
const maxEntity = 40

// appendBackslash appends the decoded escape at the start of text. n is 0 if text does not begin with one.
func appendBackslash(dst []byte, text string) (decoded []byte, n int) {
	if len(text) < 2 {
		return dst, 0
	}
	switch c := text[1]; c {
	case 'u':
		r, ok := code(text, 2, 4)
		if !ok {
			return dst, 0
		}
		n = 6
		if utf16.IsSurrogate(r) { // half of a character
			low, ok := code(text, 8, 4)
			if !ok || text[6:8] != `\u` {
				return dst, 0
			}
			r, n = utf16.DecodeRune(r, low), 12
		}
		return appendRune(dst, r), n
	case 'x':
		if r, ok := code(text, 2, 2); ok {
			return appendRune(dst, r), 4
		}
		return dst, 0
	default:
		if i := strings.IndexByte("bfnrt", c); i >= 0 {
			return append(dst, "\b\f\n\r\t"[i]), 2
		}
		if c > ' ' && c < utf8.RuneSelf && !isWord(c) {
			return appendRune(dst, rune(c)), 2
		}
		return dst, 0
	}
}

// appendRune appends r, with a plus replaced by a space, as in every layer.
func appendRune(dst []byte, r rune) []byte {
	if r == '+' {
		r = ' '
	}
	return utf8.AppendRune(dst, r)
}

func isWord(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' }

// code parses a hexadecimal number of the given number of digits at text[from:].
func code(text string, from, digits int) (rune, bool) {
	if len(text) < from+digits {
		return 0, false
	}
	n, err := strconv.ParseUint(text[from:from+digits], 16, 16)
	return rune(n), err == nil
}

// maxPartial is the maximum length in bytes of an incomplete escape: two \u1234 encode one character.
const maxPartial = 11

const hexDigits = "0123456789abcdefABCDEF"

// notInEntity reports whether r cannot occur in an HTML entity.
func notInEntity(r rune) bool { return r >= utf8.RuneSelf || r != '#' && !isWord(byte(r)) }

// partialEscape returns the length of the incomplete escape at the end of text, 0 if there is none.
func partialEscape(text string) int {
	for n := min(maxPartial, len(text)); n > 0; n-- {
		tail := text[len(text)-n:]
		_, used := appendDecoded(nil, tail)
		switch tail[0] {
		case '\\':
			if used == 1 && (n == 1 || tail[1] == 'u' || tail[1] == 'x') && strings.Trim(tail, `\ux`+hexDigits) == "" {
				return n
			}
		case '%':
			if used == 1 && n <= 2 && strings.Trim(tail[1:], hexDigits) == "" {
				return n
			}
		case '&':
			if used == 1 && !strings.ContainsFunc(tail[1:], notInEntity) {
				return n
			}
		default:
			if tail[0] >= utf8.RuneSelf && utf8.RuneStart(tail[0]) && !utf8.FullRuneInString(tail) {
				return n
			}
		}
	}
	return 0
}

// layer is a text with some layers of escapes decoded.
type layer struct {
	text    string
	origins []int // index in the first layer of each byte and of the end; nil: this is the first layer
}

// origin returns the index in the first layer of byte i of l, or of its end.
func (l layer) origin(i int) int {
	if l.origins == nil {
		return i
	}
	return l.origins[i]
}

// find adds the occurrences of text in l, as ranges of the first layer.
func (l layer) find(found []match, text string) []match {
	for from := 0; ; {
		n := strings.Index(l.text[from:], text)
		if n < 0 {
			return found
		}
		from += n + len(text)
		found = append(found, match{l.origin(from - len(text)), l.origin(from)})
	}
}

// escaped reports whether [layer.decode] would change a text.
func escaped(text string) bool { return strings.ContainsAny(text, `\%&+`) }

// decode decodes one layer of escapes: JSON and programming languages, URLs, and HTML. Every plus becomes a space, as
// in forms, even a literal one.
func (l layer) decode() layer {
	text, origins := make([]byte, 0, len(l.text)), make([]int, 0, len(l.text)+1)
	for i := 0; i < len(l.text); {
		before := len(text)
		var n int
		text, n = appendDecoded(text, l.text[i:])
		for range len(text) - before {
			origins = append(origins, l.origin(i))
		}
		i += n
	}
	return layer{string(text), append(origins, l.origin(len(l.text)))}
}
