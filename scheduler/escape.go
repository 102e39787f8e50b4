package scheduler

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// layer is a text after some escapes were undone.
type layer struct {
	text string
	at   []int // where each byte came from in the first layer, and its end; nil: this is the first
}

// place returns where the byte i of l, or its end, came from.
func (l layer) place(i int) int {
	if l.at == nil {
		return i
	}
	return l.at[i]
}

// find adds the places of a text in l, as parts of the first layer.
func (l layer) find(found []span, text string) []span {
	for from := 0; ; {
		n := strings.Index(l.text[from:], text)
		if n < 0 {
			return found
		}
		from += n + len(text)
		found = append(found, span{l.place(from - len(text)), l.place(from)})
	}
}

// escaped reports whether [layer.undo] would change a text.
func escaped(text string) bool { return strings.ContainsAny(text, `\%&+`) }

// undo returns l with one layer of escapes undone: those of JSON and of
// programming languages, of URLs, and of HTML. A plus becomes a space, as in
// forms, also one that stands for itself.
func (l layer) undo() layer {
	text, at := make([]byte, 0, len(l.text)), make([]int, 0, len(l.text)+1)
	for i := 0; i < len(l.text); {
		before := len(text)
		var n int
		text, n = appendPlain(text, l.text[i:])
		for range len(text) - before {
			at = append(at, l.place(i))
		}
		i += n
	}
	return layer{string(text), append(at, l.place(len(l.text)))}
}

// appendPlain appends what the first n bytes of text stand for: an escape, or a
// byte.
func appendPlain(dst []byte, text string) (plain []byte, n int) {
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
			if plain := html.UnescapeString(text[:n]); plain != text[:n] {
				return append(dst, strings.ReplaceAll(plain, "+", " ")...), n
			}
		}
	case '+': // a space in forms, and itself elsewhere: both are taken for the same
		return append(dst, ' '), 1
	}
	return append(dst, text[0]), 1
}

// maxEntity is the length in bytes of the longest HTML entity that is looked
// for; the longest one there is has 33.
const maxEntity = 40

// appendBackslash appends what an escape at the beginning of text stands for; n
// is 0 when there is none.
func appendBackslash(dst []byte, text string) (plain []byte, n int) {
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

// appendRune appends r, and a space for a plus, as everywhere in a layer.
func appendRune(dst []byte, r rune) []byte {
	if r == '+' {
		r = ' '
	}
	return utf8.AppendRune(dst, r)
}

func isWord(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' }

// code reads a hexadecimal number of so many digits at text[from:].
func code(text string, from, digits int) (rune, bool) {
	if len(text) < from+digits {
		return 0, false
	}
	n, err := strconv.ParseUint(text[from:from+digits], 16, 16)
	return rune(n), err == nil
}

// maxHalf is the length in bytes of the longest beginning of an escape, two of
// \u1234 for one character.
const maxHalf = 11

const hexDigits = "0123456789abcdefABCDEF"

// notInEntity reports whether r cannot stand in an HTML entity.
func notInEntity(r rune) bool { return r >= utf8.RuneSelf || r != '#' && !isWord(byte(r)) }

// halfEscape returns the length of the escape that text ends with the beginning
// of, 0 when there is none.
func halfEscape(text string) int {
	for n := min(maxHalf, len(text)); n > 0; n-- {
		half := text[len(text)-n:]
		_, used := appendPlain(nil, half)
		switch half[0] {
		case '\\':
			if used == 1 && (n == 1 || half[1] == 'u' || half[1] == 'x') && strings.Trim(half, `\ux`+hexDigits) == "" {
				return n
			}
		case '%':
			if used == 1 && n <= 2 && strings.Trim(half[1:], hexDigits) == "" {
				return n
			}
		case '&':
			if used == 1 && !strings.ContainsFunc(half[1:], notInEntity) {
				return n
			}
		default:
			if half[0] >= utf8.RuneSelf && utf8.RuneStart(half[0]) && !utf8.FullRuneInString(half) {
				return n
			}
		}
	}
	return 0
}
