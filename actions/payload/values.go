package payload

import (
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// values holds the data that a job or its action gives to templates, by name. It prints as JSON. Templates
// cannot use a field named String.
type values map[string]any

func (v values) String() string { return string(appendValue(nil, v)) }

// list is an array in a template. It prints as JSON.
type list []any

func (l list) String() string { return string(appendValue(nil, l)) }

// number is a number that no type of Go holds as it is written. It prints so.
type number string

func (n number) String() string { return string(n) }

// merged merges objects; later ones take precedence.
func merged(objects ...document.Value) values {
	all := values{}
	for _, object := range objects {
		for _, m := range object.Members() {
			all[m.Name] = valueOf(m.Value)
		}
	}
	return all
}

// declared returns the properties of a JSON Schema with their defaults. An object without a default has the defaults of its
// properties; any other property without one is null.
func declared(schema document.Value) document.Value {
	properties, _ := schema.Member("properties")
	members := make([]document.Member, 0, len(properties.Members()))
	for _, m := range properties.Members() {
		value, ok := m.Value.Member("default")
		if _, object := m.Value.Member("properties"); object && !ok {
			value = declared(m.Value)
		}
		members = append(members, document.Member{Name: m.Name, Value: value})
	}
	return document.ObjectValue(members...)
}

// valueOf returns a value as templates have it. Null is no time: it prints as nothing.
func valueOf(v document.Value) any {
	switch v.Kind() {
	case document.KindBool:
		return v.Bool()
	case document.KindNumber:
		return numberOf(v.Text())
	case document.KindString:
		return v.Text()
	case document.KindArray:
		items := make(list, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = valueOf(item)
		}
		return items
	case document.KindObject:
		return merged(v)
	case document.KindNull:
	}
	return (*moment)(nil)
}

func numberOf(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	const exact = 15 // digits that every float64 keeps
	if f, err := strconv.ParseFloat(text, 64); err == nil && len(text) <= exact {
		return f
	}
	return number(text)
}

// appendValue appends a value as JSON, the members of objects by name.
func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case values:
		b = append(b, '{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(append(appendJSON(b, name), ':'), v[name])
		}
		return append(b, '}')
	case list:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, item)
		}
		return append(b, ']')
	}
	return append(b, toJSON(v)...)
}

// appendJSON appends s as a JSON string. It escapes only what RFC 8259 requires and replaces invalid UTF-8 by
// U+FFFD.
func appendJSON(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&0xf])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
