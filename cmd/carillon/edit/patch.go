package edit

import (
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Patch returns what turns the object from into to, as a merge patch (RFC 7396): members that to does not have are null.
// changed is false when there is nothing to do. Names are matched in any letter case, as the scheduler reads them.
func Patch(from, to document.Value) (patch document.Value, changed bool) {
	var members []document.Member
	for _, m := range from.Members() {
		if _, stays := member(to, m.Name); !stays {
			members = append(members, document.Member{Name: m.Name})
		}
	}
	for _, m := range to.Members() {
		before, known := member(from, m.Name)
		switch {
		case !known:
			members = append(members, m)
		case before.Value.Kind() == document.KindObject && m.Value.Kind() == document.KindObject:
			if inner, changed := Patch(before.Value, m.Value); changed {
				members = append(members, document.Member{Name: before.Name, Value: inner})
			}
		case !before.Value.Equal(m.Value):
			members = append(members, document.Member{Name: before.Name, Value: m.Value})
		}
	}
	return document.ObjectValue(members...), len(members) > 0
}

// member returns a member by its name in any letter case.
func member(v document.Value, name string) (document.Member, bool) {
	i := slices.IndexFunc(v.Members(), func(m document.Member) bool { return strings.EqualFold(m.Name, name) })
	if i < 0 {
		return document.Member{}, false
	}
	return v.Members()[i], true
}
