package document

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind is the kind of a [Value]: one of JSON's six.
type Kind uint8

// The kinds. The zero Kind is null, so the zero Value is null.
const (
	KindNull Kind = iota
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

// kinds are the names of the kinds in messages.
var kinds = [...]string{
	KindNull: "null", KindBool: "a boolean", KindNumber: "a number", KindString: "a string", KindArray: "an array",
	KindObject: "an object",
}

// String returns the kind with its article, for messages: "a string", "an array", "null".
func (k Kind) String() string { return kinds[k] }

// Value is a node of a parsed document. Copies share their children. Do not write to slices that a Value returns; only
// an [Object] does.
type Value struct {
	kind    Kind
	truth   bool
	secret  bool   // a write-only string
	locked  bool   // a secret whose sealed text alone is known
	text    string // of a number or a string
	items   []Value
	members []Member
}

// Member is a named value of an object.
type Member struct {
	Name  string
	Value Value
}

// StringValue returns a string value.
func StringValue(text string) Value { return Value{kind: KindString, text: text} }

// NumberValue returns a number written as text, which must be a JSON number.
func NumberValue(text string) Value { return Value{kind: KindNumber, text: text} }

// BoolValue returns a boolean value.
func BoolValue(truth bool) Value { return Value{kind: KindBool, truth: truth} }

// ArrayValue returns an array of items. It keeps the slice.
func ArrayValue(items ...Value) Value { return Value{kind: KindArray, items: items} }

// ObjectValue returns an object of members, whose names must differ. It keeps the slice.
func ObjectValue(members ...Member) Value { return Value{kind: KindObject, members: members} }

// Kind returns the value's kind.
func (v Value) Kind() Kind { return v.kind }

// Bool returns the value of a boolean, false for any other kind.
func (v Value) Bool() bool { return v.truth }

// Text returns the content of a string or the text of a number, "" for any other kind.
func (v Value) Text() string { return v.text }

// Items returns the elements of an array, nil for any other kind.
func (v Value) Items() []Value { return v.items }

// Members returns the fields of an object in document order, nil for any other kind.
func (v Value) Members() []Member { return v.members }

// Member returns the field with that exact name.
func (v Value) Member(name string) (Value, bool) {
	for i := range v.members {
		if v.members[i].Name == name {
			return v.members[i].Value, true
		}
	}
	return Value{}, false
}

// With returns v with a value at a path of exact names, such as "action.errorAction[1].type". It creates missing
// objects; an index must exist. Nodes off the path are shared with v.
func (v Value) With(value Value, path string) Value {
	if path == "" {
		return value
	}
	if inner, ok := strings.CutPrefix(path, "["); ok {
		index, rest, _ := strings.Cut(inner, "]")
		n, err := strconv.Atoi(index)
		if err != nil || n < 0 || n >= len(v.items) {
			return v
		}
		v.items = slices.Clone(v.items)
		v.items[n] = v.items[n].With(value, strings.TrimPrefix(rest, "."))
		return v
	}
	members := []Member(nil)
	if v.kind == KindObject {
		members = slices.Clone(v.members)
	}
	end := strings.IndexAny(path+".", ".[")
	name, rest := path[:end], strings.TrimPrefix(path[end:], ".")
	i := slices.IndexFunc(members, func(m Member) bool { return m.Name == name })
	if i < 0 {
		i, members = len(members), append(members, Member{Name: name})
	}
	members[i].Value = members[i].Value.With(value, rest)
	return ObjectValue(members...)
}

// Clone returns a copy that shares no memory an [Object] may write to.
func (v Value) Clone() Value {
	v, _ = v.each("", func(_ string, inner Value) (Value, error) { return inner.Clone(), nil })
	return v
}

// each returns v with f applied to its elements or fields. path is the path of v.
func (v Value) each(path string, f func(path string, inner Value) (Value, error)) (Value, error) {
	var err error
	v.items, v.members = slices.Clone(v.items), slices.Clone(v.members)
	for i := range v.items {
		if v.items[i], err = f(element(path, i), v.items[i]); err != nil {
			return v, err
		}
	}
	for i := range v.members {
		m := &v.members[i]
		if m.Value, err = f(member(path, m.Name), m.Value); err != nil {
			return v, err
		}
	}
	return v, nil
}

// JSON returns the value as compact JSON: fields in document order, numbers as written, minimal escapes. It omits
// secrets; only [Value.Seal] keeps them.
func (v Value) JSON() []byte { return v.AppendJSON(nil) }

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) { return v.JSON(), nil }

// String returns the value as compact JSON.
func (v Value) String() string { return string(v.JSON()) }

// AppendJSON appends the output of JSON to dst.
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

// appendQuoted appends s as a JSON string. Invalid UTF-8, possible only in a Value that code constructs, becomes
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
