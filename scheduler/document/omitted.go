package document

import (
	"slices"
	"strings"
)

// Omitted returns the paths of the secrets of v that next has nothing for: neither a value, nor null in place of the secret
// or of what it stands in. path is where both stand. Objects with a member type, of which they have different words, are
// different things, and the secrets of the one are none of the other. Names are matched without letter case.
func (v Value) Omitted(path string, next Value) []string {
	if v.Kind() != KindObject || next.Kind() != KindObject {
		return nil // it was replaced
	}
	replaced := v.otherType(next)
	var paths []string
	for _, m := range v.members {
		here := member(path, m.Name)
		if there, ok := next.memberFold(m.Name); ok {
			paths = append(paths, m.Value.Omitted(here, there)...)
			continue
		}
		if replaced {
			continue // it belongs to the type that was
		}
		m.Value.eachSecret(here, func(path string, _ bool) { paths = append(paths, path) })
	}
	return paths
}

// Completed returns next with the secrets of v that it has nothing for, as [Value.Omitted] tells them, and where these are.
// Those of an object whole are not brought back when it is told by its type, which is then not known.
func (v Value) Completed(path string, next Value) (Value, []string) {
	if v.Kind() != KindObject || next.Kind() != KindObject {
		return next, nil
	}
	replaced := v.otherType(next)
	members := slices.Clone(next.members)
	var paths []string
	for _, m := range v.members {
		here := member(path, m.Name)
		at := slices.IndexFunc(members, func(there Member) bool { return strings.EqualFold(there.Name, m.Name) })
		_, typed := m.Value.memberFold("type")
		switch {
		case at >= 0:
			whole, more := m.Value.Completed(here, members[at].Value)
			members[at].Value, paths = whole, append(paths, more...)
		case replaced, typed, !m.Value.HasSecrets() && !m.Value.HasLocked():
		default:
			members = append(members, Member{m.Name, m.Value.onlySecrets()})
			m.Value.eachSecret(here, func(path string, _ bool) { paths = append(paths, path) })
		}
	}
	return ObjectValue(members...), paths
}

// onlySecrets returns v without what can be shown: a secret, or an object of these.
func (v Value) onlySecrets() Value {
	if v.kind != KindObject {
		return v
	}
	var members []Member
	for _, m := range v.members {
		if m.Value.HasSecrets() || m.Value.HasLocked() {
			members = append(members, Member{m.Name, m.Value.onlySecrets()})
		}
	}
	return ObjectValue(members...)
}

// Retyped returns the paths of the secrets that stand in an object called name whose type is another one in next. path is
// where both stand.
func (v Value) Retyped(path, name string, next Value) []string {
	var paths []string
	for i, item := range v.items {
		if i < len(next.items) {
			paths = append(paths, item.Retyped(element(path, i), name, next.items[i])...)
		}
	}
	for _, m := range v.members {
		there, ok := next.memberFold(m.Name)
		if !ok {
			continue
		}
		here := member(path, m.Name)
		paths = append(paths, m.Value.Retyped(here, name, there)...)
		if strings.EqualFold(m.Name, name) && m.Value.otherType(there) {
			m.Value.eachSecret(here, func(path string, _ bool) { paths = append(paths, path) })
		}
	}
	return paths
}

// otherType reports whether both have a type, and not the same.
func (v Value) otherType(next Value) bool {
	here, ok := v.memberFold("type")
	there, also := next.memberFold("type")
	return ok && also && !strings.EqualFold(here.text, there.text)
}

// memberFold returns the member of that name, in whatever letter case.
func (v Value) memberFold(name string) (Value, bool) {
	if i := v.foldIndex(name); i >= 0 {
		return v.members[i].Value, true
	}
	return Value{}, false
}

// foldIndex returns where the member of that name is, in whatever letter case, or -1.
func (v Value) foldIndex(name string) int {
	return slices.IndexFunc(v.members, func(m Member) bool { return strings.EqualFold(m.Name, name) })
}
