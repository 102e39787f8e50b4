package document

import (
	"slices"
	"strings"
	"unicode"
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

// targets returns which of members the change of a name is meant for: the one of that very name, or else the first in another
// letter case that no change names itself. It looks at each name once, as a patch may have as many as fit into it.
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

// folded returns a name that is the same for all names that [strings.EqualFold] takes for equal.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, name)
}
