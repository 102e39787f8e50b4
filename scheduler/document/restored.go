package document

import (
	"slices"
	"strings"
)

// Restored returns next with those secrets of v that it has nothing for and that stand at paths which keep takes. path is
// where both stand; an element of a list is told by its place. Objects of different types are different things, and the
// secrets of the one are none of the other.
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
		default: // an object of nothing but secrets is not shown at all
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
