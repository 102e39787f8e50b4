package plainjson

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// asIs is the set of bytes that are written unescaped in a string: ASCII without control characters, without JSON's
// escaped characters, and without the characters that encoding/json escapes so that browsers do not interpret them as
// HTML.
var asIs = func() (is [256]bool) {
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		is[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
	}
	return is
}()

// appendText appends s as a JSON string. Invalid UTF-8 becomes U+FFFD. The line separators U+2028 and U+2029, invalid
// in JavaScript strings, are escaped.
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

// The letters after a backslash, and the characters that they represent.
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

// reach returns a lower bound of the number of leading unescaped bytes.
func reach(quoted []byte) int {
	i := 0
	for i < len(quoted) && ' ' <= quoted[i] && quoted[i] < utf8.RuneSelf && quoted[i] != '\\' {
		i++
	}
	return i
}

// unquoted decodes the text between the quotes of a string. It returns false if the text is not as a [Codec] writes it.
func unquoted(quoted []byte) (string, bool) {
	n := reach(quoted)
	if n == len(quoted) {
		return string(quoted), true
	}
	var s strings.Builder
	s.Grow(len(quoted)) // an escape is never shorter than its character
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
