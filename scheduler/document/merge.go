package document

import (
	"slices"
	"strings"
)

// Merge returns base changed by patch as RFC 7396 (JSON Merge Patch) says: members of objects are merged, null removes a
// member, and everything else replaces what was there. Names are matched without letter case, as everywhere in this
// package, unless one is there that is the same; a member that is there keeps the spelling it has. What a patch gives twice
// is twice in the result, for its reader to judge.
func Merge(base, patch Value) Value {
	if patch.kind != KindObject {
		return patch
	}
	var members, added []Member
	if base.kind == KindObject {
		members = slices.Clone(base.members)
	}
	changed := make([]bool, len(members))
	for _, change := range patch.members {
		i := target(members, patch.members, change.Name)
		if i < 0 || changed[i] {
			added = append(added, Member{Name: change.Name, Value: Merge(Value{}, change.Value)})
			continue
		}
		members[i].Value, changed[i] = Merge(members[i].Value, change.Value), true
	}
	return ObjectValue(slices.DeleteFunc(append(members, added...), func(m Member) bool { return m.Value.kind == KindNull })...)
}

// target returns which of members the change of a name is meant for, -1 for none: the one of that very name, or else the first
// in another letter case that no change names itself.
func target(members, changes []Member, name string) int {
	found := -1
	for i, m := range members {
		if m.Name == name {
			return i
		}
		own := func(c Member) bool { return c.Name == m.Name }
		if found < 0 && strings.EqualFold(m.Name, name) && !slices.ContainsFunc(changes, own) {
			found = i
		}
	}
	return found
}
