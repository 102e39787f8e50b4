package jobform

import (
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// lastName returns the last name of a path without indexes.
func lastName(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// steps returns the names and indexes of a path.
func steps(path string) []string {
	var all []string
	for path != "" {
		switch {
		case strings.HasPrefix(path, `["`):
			quoted, err := strconv.QuotedPrefix(path[1:])
			if err != nil {
				return all
			}
			name, _ := strconv.Unquote(quoted)
			all, path = append(all, name), strings.TrimPrefix(path[1+len(quoted):], "]")
		case path[0] == '[':
			index, rest, _ := strings.Cut(path[1:], "]")
			all, path = append(all, "["+index), rest
		case path[0] == '.':
			path = path[1:]
		default:
			end := strings.IndexAny(path+".", ".[")
			all, path = append(all, path[:end]), path[end:]
		}
	}
	return all
}

// find returns the value at a path; ok reports whether it exists.
func find(v document.Value, path string) (found document.Value, ok bool) {
	changed(v, steps(path), func(is document.Value) optionalValue {
		found, ok = is, true
		return optionalValue{is, true}
	})
	return found, ok
}

// Lists returns the paths of the lists along a path, outermost first.
func Lists(path string) []string {
	var all []string
	for i := range len(path) - 1 {
		if path[i] == '[' && path[i+1] >= '0' && path[i+1] <= '9' {
			all = append(all, path[:i])
		}
	}
	return all
}

// Replaced returns a document with another value at those paths that exist, for example in place of typed secrets.
func Replaced(v document.Value, paths []string, now document.Value) document.Value {
	for _, path := range paths {
		v = changed(v, steps(path), func(document.Value) optionalValue { return optionalValue{now, true} })
	}
	return v
}

// Without returns a document without the values at some paths.
func Without(v document.Value, paths []string) document.Value {
	for _, path := range paths {
		v = changed(v, steps(path), func(document.Value) optionalValue { return optionalValue{} })
	}
	return v
}

// At returns the value at a path, null if absent. Names are case-insensitive.
func At(v document.Value, path string) document.Value {
	v, _ = find(v, path)
	return v
}

// Has reports whether a path exists, including null.
func Has(v document.Value, path string) bool {
	_, ok := find(v, path)
	return ok
}

// changed returns a document with the value at the end of some steps changed, if it exists.
func changed(v document.Value, way []string, change func(document.Value) optionalValue) document.Value {
	if len(way) == 0 {
		return change(v).v
	}
	index, isIndex := strings.CutPrefix(way[0], "[")
	if isIndex && v.Kind() == document.KindArray {
		items := slices.Clone(v.Items())
		if i, err := strconv.Atoi(index); err == nil && i >= 0 && i < len(items) {
			items[i] = changed(items[i], way[1:], change)
		}
		return document.ArrayValue(items...)
	}
	i := indexOf(v.Members(), way[0])
	if i < 0 {
		return v
	}
	members := slices.Clone(v.Members())
	now := optionalValue{ok: true}
	if len(way) == 1 {
		now = change(members[i].Value)
	} else {
		now.v = changed(members[i].Value, way[1:], change)
	}
	return document.ObjectValue(put(members, i, members[i].Name, now)...)
}

// SecretsIn returns the paths of texts that are or may be secrets. In unknown parts of a typed document, the names of
// fields decide.
func (f *Form) SecretsIn(v document.Value) []string {
	s := seeker{form: f}
	inner, wrapped := v.Member("properties")
	if wrapped && inner.Kind() == document.KindObject {
		s.object(inner, f.shape.Members, "properties")
		return s.paths
	}
	s.object(v, f.shape.Members, "")
	return s.paths
}

// seeker searches for secrets.
type seeker struct {
	form  *Form
	paths []string
}

// object searches an object; without members, its fields are unknown.
func (s *seeker) object(v document.Value, m *document.Members, path string) {
	around := m
	if m != nil && len(m.Kinds) > 0 {
		m = membersOf(m, At(v, typeMember).Text())
	}
	for _, member := range v.Members() {
		at := document.MemberPath(path, member.Name)
		var known *document.Shape
		if m != nil {
			known = shapeOf(m.Known, member.Name)
		}
		switch {
		case known != nil:
			_, secret := known.Form(document.FormSecret)
			s.value(member.Value, known, around, at, secret)
		case m != nil && m.Free != nil:
			s.value(member.Value, m.Free, around, at, document.IsCredential(member.Name))
		default:
			s.value(member.Value, nil, nil, at, s.form.IsSecret(member.Name))
		}
	}
}

// value searches a value of a shape, nil for a field that jobs do not have.
func (s *seeker) value(v document.Value, shape *document.Shape, around *document.Members, path string, secret bool) {
	switch v.Kind() { //nolint:exhaustive // the others are no secrets
	case document.KindString:
		if secret {
			s.paths = append(s.paths, path)
		}
	case document.KindArray:
		for i, item := range v.Items() {
			s.value(item, shape, around, path+"["+strconv.Itoa(i)+"]", secret)
		}
	case document.KindObject:
		if shape == nil {
			s.object(v, nil, path)
			return
		}
		switch m := shape.Members; {
		case m != nil && m.Recurs:
			s.object(v, around, path)
		case m == nil, m.Open && len(m.Known) == 0: // labels or data
		default:
			s.object(v, m, path)
		}
	}
}

// IsSecret reports whether a field of that name may be a secret anywhere.
func (f *Form) IsSecret(name string) bool {
	secret, known := f.names[strings.ToLower(name)]
	return secret || !known && document.IsCredential(name)
}

// namesOf adds the names of fields in lower case, and whether they are secrets anywhere.
func namesOf(m *document.Members, names map[string]bool) {
	if m == nil {
		return
	}
	for _, s := range m.Known {
		_, secret := s.Form(document.FormSecret)
		name := strings.ToLower(s.Name)
		names[name] = names[name] || secret
		namesOf(s.Members, names)
	}
	for _, k := range m.Kinds {
		namesOf(k.Members, names)
	}
}
