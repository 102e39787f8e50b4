package document

// Patch returns what turns the object from into to, as a merge patch (RFC 7396): members that to does not have are null.
// changed is false when there is nothing to do. Names are matched in any letter case, as the scheduler reads them.
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
