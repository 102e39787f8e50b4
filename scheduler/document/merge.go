package document

import (
	"slices"
	"strings"
	"unicode"
)

// Merge applies patch to base by RFC 7396 (JSON Merge Patch): object fields are merged, null removes a field, and any
// other value replaces the old one. A name matches exactly, or else in any letter case; an existing field keeps its
// spelling. Duplicate names in a patch remain duplicates in the result, for its reader to report.
func Merge(base, patch Value) Value {
	if patch.kind != KindObject {
		return patch
	}
	var members, added []Member
	if base.kind == KindObject {
		members = slices.Clone(base.members)
	}
	changed := make([]bool, len(members))
	find := targets(members, patch.members)
	for _, change := range patch.members {
		i, ok := find(change.Name)
		if !ok || changed[i] {
			added = append(added, Member{Name: change.Name, Value: Merge(Value{}, change.Value)})
			continue
		}
		members[i].Value, changed[i] = Merge(members[i].Value, change.Value), true
	}
	return ObjectValue(slices.DeleteFunc(append(members, added...), func(m Member) bool { return m.Value.kind == KindNull })...)
}

// targets returns a function that finds the field that a change applies to: the one with the exact name, or else the
// first in another letter case that no change names exactly. It looks at each name once, because a patch may have many.
func targets(members, changes []Member) (find func(name string) (i int, ok bool)) {
	named := make(map[string]bool, len(changes))
	for _, c := range changes {
		named[c.Name] = true
	}
	same, alike := make(map[string]int, len(members)), make(map[string]int, len(members))
	for i, m := range members {
		same[m.Name] = i
		if _, earlier := alike[folded(m.Name)]; !earlier && !named[m.Name] {
			alike[folded(m.Name)] = i
		}
	}
	return func(name string) (i int, ok bool) {
		if i, ok = same[name]; !ok {
			i, ok = alike[folded(name)]
		}
		return i, ok
	}
}

// folded returns the same text for all names that [strings.EqualFold] considers equal.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, name)
}

// Patch returns the merge patch (RFC 7396) that turns the object from into to: fields missing in to are null. changed
// is false if the patch is empty. Names match in any letter case, as the scheduler reads them.
func Patch(from, to Value) (patch Value, changed bool) {
	var members []Member
	for _, m := range from.Members() {
		if _, stays := to.memberFold(m.Name); !stays {
			members = append(members, Member{Name: m.Name})
		}
	}
	for _, m := range to.Members() {
		i := from.foldIndex(m.Name)
		if i < 0 {
			members = append(members, m)
			continue
		}
		switch before := from.members[i]; {
		case before.Value.Kind() == KindObject && m.Value.Kind() == KindObject:
			if inner, changed := Patch(before.Value, m.Value); changed {
				members = append(members, Member{Name: before.Name, Value: inner})
			}
		case !before.Value.Equal(m.Value):
			members = append(members, Member{Name: before.Name, Value: m.Value})
		}
	}
	return ObjectValue(members...), len(members) > 0
}

// Omitted returns the paths of the secrets of v that next omits: it has neither a value, nor null for the secret or an
// object around it. path is the path of both. Objects with different values of type are unrelated, and so are their
// secrets. Names match in any letter case.
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
			continue // belongs to the previous type
		}
		m.Value.eachSecret(here, func(path string, _ bool) { paths = append(paths, path) })
	}
	return paths
}

// Completed returns next with the secrets of v that it omits (see [Value.Omitted]), and their paths. Secrets of an
// omitted object are not restored if its field type selects its kind, because the kind is then unknown.
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

// onlySecrets returns v reduced to secrets and objects of secrets.
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

// Retyped returns the paths of the secrets in objects called name whose type differs in next. path is the path of both.
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

// otherType reports whether both have a type and the types differ.
func (v Value) otherType(next Value) bool {
	here, ok := v.memberFold("type")
	there, also := next.memberFold("type")
	return ok && also && !strings.EqualFold(here.text, there.text)
}

// memberFold returns the field with that name, in any letter case.
func (v Value) memberFold(name string) (Value, bool) {
	if i := v.foldIndex(name); i >= 0 {
		return v.members[i].Value, true
	}
	return Value{}, false
}

// foldIndex returns the index of the field with that name, in any letter case, or -1.
func (v Value) foldIndex(name string) int {
	return slices.IndexFunc(v.members, func(m Member) bool { return strings.EqualFold(m.Name, name) })
}

// Restored returns next with the secrets of v that it omits and whose paths keep accepts. path is the path of both;
// list elements are matched by index. Objects with different types are unrelated, and so are their secrets.
func (v Value) Restored(path string, next Value, keep func(path string) bool) Value {
	switch {
	case v.kind == KindArray && next.kind == KindArray:
		items := slices.Clone(next.items)
		for i := range min(len(items), len(v.items)) {
			items[i] = v.items[i].Restored(element(path, i), items[i], keep)
		}
		return ArrayValue(items...)
	case v.kind != KindObject || next.kind != KindObject || v.otherType(next):
		return next
	}
	members := slices.Clone(next.members)
	for _, m := range v.members {
		here := member(path, m.Name)
		at := slices.IndexFunc(members, func(there Member) bool { return strings.EqualFold(there.Name, m.Name) })
		switch {
		case at >= 0:
			members[at].Value = m.Value.Restored(here, members[at].Value, keep)
		case m.Value.secret && keep(here):
			members = append(members, m)
		default: // an object of secrets alone is not shown
			if _, typed := m.Value.memberFold("type"); typed {
				continue
			}
			if inner := m.Value.Restored(here, ObjectValue(), keep); len(inner.members) > 0 {
				members = append(members, Member{m.Name, inner})
			}
		}
	}
	return ObjectValue(members...)
}
