package document

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// JSON returns the value as compact JSON: members in document order, numbers as they were written, nothing escaped that
// JSON does not require to be. Secrets are left out; [Value.Seal] is the one way to keep them.
func (v Value) JSON() []byte { return v.AppendJSON(nil) }

// MarshalJSON makes a Value usable inside a type that encoding/json writes.
func (v Value) MarshalJSON() ([]byte, error) { return v.JSON(), nil }

// String returns the value as compact JSON.
func (v Value) String() string { return string(v.JSON()) }

// AppendJSON appends what JSON returns to dst.
func (v Value) AppendJSON(dst []byte) []byte {
	if v.secret {
		return append(dst, "null"...)
	}
	switch v.kind {
	case KindNull:
	case KindBool:
		return strconv.AppendBool(dst, v.truth)
	case KindNumber:
		return append(dst, v.text...)
	case KindString:
		return appendQuoted(dst, v.text)
	case KindArray:
		return v.appendItems(dst)
	case KindObject:
		return v.appendMembers(dst)
	}
	return append(dst, "null"...)
}

func (v Value) appendItems(dst []byte) []byte {
	dst = append(dst, '[')
	for i, item := range v.items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = item.AppendJSON(dst)
	}
	return append(dst, ']')
}

func (v Value) appendMembers(dst []byte) []byte {
	dst = append(dst, '{')
	first := len(dst)
	for i := range v.members {
		if v.members[i].Value.secret {
			continue
		}
		if len(dst) > first {
			dst = append(dst, ',')
		}
		dst = appendQuoted(dst, v.members[i].Name)
		dst = append(dst, ':')
		dst = v.members[i].Value.AppendJSON(dst)
	}
	return append(dst, '}')
}

// appendQuoted appends s as a JSON string. Bytes that are not UTF-8, which only a Value made by hand can hold, become
// U+FFFD.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; ; {
		i += leading(s[i:])
		if i == len(s) {
			break
		}
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[from:i]...), "\uFFFD"...)
				from = i + 1
			}
			i += size
			continue
		}
		if c < 0x20 || c == '"' || c == '\\' {
			dst = appendEscape(append(dst, s[from:i]...), c)
			from = i + 1
		}
		i++
	}
	return append(append(dst, s[from:]...), '"')
}

// appendEscape appends the shortest escape of c.
func appendEscape(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	if i := strings.IndexByte(escaped, c); i >= 0 {
		return append(dst, '\\', escapes[i])
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
