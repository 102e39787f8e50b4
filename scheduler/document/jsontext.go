package document

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// string reads a string, whose opening quote is next.
func (p *jsonParser) string() (string, error) {
	p.pos++
	start := p.pos
	var begun strings.Builder // the text before start, if it contains escapes
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; {
		case c == '"':
			text := p.text[start:p.pos]
			p.pos++
			if begun.Len() == 0 {
				return text, nil
			}
			begun.WriteString(text)
			return begun.String(), nil
		case c == '\\':
			if begun.Len() == 0 {
				begun.Grow(p.quoted(start) - start)
			}
			begun.WriteString(p.text[start:p.pos])
			if err := p.escape(&begun); err != nil {
				return "", err
			}
			start = p.pos
		case c < 0x20:
			return "", p.fail("a control character in a string must be escaped")
		default:
			p.pos++
		}
	}
	return "", p.fail("expected a closing quote")
}

// quoted returns the end of the string with a special byte at from.
func (p *jsonParser) quoted(from int) int {
	for i := from; i < len(p.text); i++ {
		switch p.text[i] {
		case '"':
			return i
		case '\\':
			i++
		}
	}
	return len(p.text)
}

// The letters after a backslash, and the characters that they represent.
const (
	escapes = `"\bfnrt/`
	escaped = "\"\\\b\f\n\r\t" // and / itself, which needs no escape
)

// escape parses one escape sequence, starting at its backslash.
func (p *jsonParser) escape(b *strings.Builder) error {
	p.pos++
	c := p.peek()
	if c == 'u' {
		p.pos--
		return p.unicode(b)
	}
	i := strings.IndexByte(escapes, c)
	if i < 0 {
		return p.fail(`unknown escape; use \n, \t, \" or \uXXXX`)
	}
	b.WriteByte((escaped + "/")[i])
	p.pos++
	return nil
}

// unicode parses \uXXXX, or a surrogate pair of two. A lone surrogate has no UTF-8 encoding and is refused.
func (p *jsonParser) unicode(b *strings.Builder) error {
	r, ok := p.hex()
	if !ok {
		return p.fail(`\u needs four hexadecimal digits`)
	}
	if utf16.IsSurrogate(r) {
		low, _ := p.hex()
		if r = utf16.DecodeRune(r, low); r == '\uFFFD' {
			return p.fail(`\u is half of a surrogate pair`)
		}
	}
	b.WriteRune(r)
	return nil
}

// hex reads \uXXXX.
func (p *jsonParser) hex() (rune, bool) {
	rest := p.text[p.pos:]
	if len(rest) < 6 || rest[0] != '\\' || rest[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(rest[2:6], 16, 16)
	if err != nil {
		return 0, false
	}
	p.pos += 6
	return rune(n), true
}

// number parses a number and keeps its text. It is tried last: if the text is not a number, it is not a value.
func (p *jsonParser) number() (Value, error) {
	n := numberLength(p.text[p.pos:])
	if n == 0 {
		return Value{}, p.fail("expected a value")
	}
	v := Value{kind: KindNumber, text: p.text[p.pos : p.pos+n]}
	p.pos += n
	return v, nil
}

// numberLength returns the length of the JSON number at the start of s, 0 if it has none.
func numberLength(s string) int {
	i := 0
	if i < len(s) && s[i] == '-' {
		i++
	}
	whole := digits(s[i:])
	if whole == 0 || whole > 1 && s[i] == '0' {
		return 0
	}
	i += whole
	if i < len(s) && s[i] == '.' {
		n := digits(s[i+1:])
		if n == 0 {
			return 0
		}
		i += 1 + n
	}
	return i + exponentLength(s[i:])
}

// exponentLength returns the length of the exponent at the start of s, 0 if it has none.
func exponentLength(s string) int {
	if s == "" || s[0]|0x20 != 'e' {
		return 0
	}
	i := 1
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	n := digits(s[i:])
	if n == 0 {
		return 0
	}
	return i + n
}

// digits returns the number of decimal digits at the start of s.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// leading returns the number of leading bytes of s that need no escape in a JSON string: ASCII without control
// characters, quotes and backslashes.
func leading(s string) int {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return i
		}
	}
	return len(s)
}
