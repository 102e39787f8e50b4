package plainjson

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// asIs are the bytes that stand for themselves in a string that is written: ASCII, but for control characters, what JSON
// escapes, and what encoding/json escapes besides, lest a browser take it for HTML.
var asIs = func() (is [256]bool) {
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		is[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
	}
	return is
}()

// appendText appends s as a string of JSON. Bytes that are not UTF-8 become U+FFFD; the line separators U+2028 and U+2029,
// which JavaScript does not take in a string, are escaped.
func appendText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		if asIs[s[i]] {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r < utf8.RuneSelf || r == '\u2028' || r == '\u2029' || r == utf8.RuneError && size == 1 {
			dst = appendEscape(append(dst, s[from:i]...), r)
			from = i + size
		}
		i += size
	}
	return append(append(dst, s[from:]...), '"')
}

// The letters behind a backslash, and what they stand for.
const (
	letters  = `"\bfnrt`
	lettered = "\"\\\b\f\n\r\t"
)

// appendEscape appends the escape of r.
func appendEscape(dst []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	for i := range lettered {
		if rune(lettered[i]) == r {
			return append(dst, '\\', letters[i])
		}
	}
	return append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}

// reach returns how many bytes at the beginning of a quoted text stand for themselves, at least.
func reach(quoted []byte) int {
	i := 0
	for i < len(quoted) && ' ' <= quoted[i] && quoted[i] < utf8.RuneSelf && quoted[i] != '\\' {
		i++
	}
	return i
}

// unquoted returns what a string stands for, given what is between its quotes. False means that it is not as a [Codec]
// writes it.
func unquoted(quoted []byte) (string, bool) {
	n := reach(quoted)
	if n == len(quoted) {
		return string(quoted), true
	}
	var s strings.Builder
	s.Grow(len(quoted)) // an escape is no shorter than what it stands for
	for {
		s.Write(quoted[:n])
		if quoted = quoted[n:]; len(quoted) == 0 {
			return s.String(), true
		}
		r, size := special(quoted)
		if size == 0 {
			return "", false
		}
		s.WriteRune(r)
		quoted = quoted[size:]
		n = reach(quoted)
	}
}

// special reads the character at the beginning of a quoted text, which is escaped or not of ASCII. The size is 0 when it is
// not as a [Codec] writes it, such as half of a surrogate pair.
func special(quoted []byte) (r rune, size int) {
	if quoted[0] != '\\' {
		r, size = utf8.DecodeRune(quoted)
		if r < utf8.RuneSelf || r == utf8.RuneError && size == 1 {
			return 0, 0
		}
		return r, size
	}
	if len(quoted) < 2 {
		return 0, 0
	}
	if i := strings.IndexByte(letters, quoted[1]); i >= 0 {
		return rune(lettered[i]), 2
	}
	if quoted[1] != 'u' || len(quoted) < 6 {
		return 0, 0
	}
	n, err := strconv.ParseUint(string(quoted[2:6]), 16, 16)
	if err != nil || utf16.IsSurrogate(rune(n)) {
		return 0, 0
	}
	return rune(n), 6
}
