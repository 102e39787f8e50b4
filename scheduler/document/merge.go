package document

import (
	"slices"
	"strings"
)

// Merge returns base changed by patch as RFC 7396 (JSON Merge Patch) says: members of objects are merged, null removes a
// member, and everything else replaces what was there. Names are matched without letter case, as everywhere in this
// package; a member that is there keeps the spelling it has.
func Merge(base, patch Value) Value {
	if patch.kind != KindObject {
		return patch
	}
	var members []Member
	if base.kind == KindObject {
		members = slices.Clone(base.members)
	}
	for _, change := range patch.members {
		i := slices.IndexFunc(members, func(m Member) bool { return strings.EqualFold(m.Name, change.Name) })
		switch {
		case change.Value.kind == KindNull && i >= 0:
			members = slices.Delete(members, i, i+1)
		case change.Value.kind == KindNull:
		case i >= 0:
			members[i].Value = Merge(members[i].Value, change.Value)
		default:
			members = append(members, Member{Name: change.Name, Value: Merge(Value{}, change.Value)})
		}
	}
	return ObjectValue(members...)
}
