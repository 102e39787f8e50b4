package document

import "slices"

// Ignore makes members known without reading them, so that [Object.Done] does not report them.
func (o *Object) Ignore(names ...string) {
	for _, name := range names {
		o.wants(name, Form{Kind: FormAny})
		o.Value(name)
	}
}

// IgnoreRest makes every member that was not read yet known.
func (o *Object) IgnoreRest() {
	if o.shape != nil {
		o.shape.Members.opened = true
	}
	for i := range o.used {
		o.used[i] = true
	}
}

// Without returns an object without the members of the given names, and without those that are null. A value of another
// kind is returned as it is.
func (v Value) Without(names ...string) Value {
	return v.drop(func(m Member) bool { return m.Value.kind == KindNull || slices.Contains(names, m.Name) })
}

// Except returns an object without the members of the given names: those that are null stay, as a patch needs them. A value
// of another kind is returned as it is.
func (v Value) Except(names ...string) Value {
	return v.drop(func(m Member) bool { return slices.Contains(names, m.Name) })
}

// Only returns an object with no members but those of the given names, and without those that are null.
func (v Value) Only(names ...string) Value {
	return v.drop(func(m Member) bool { return m.Value.kind == KindNull || !slices.Contains(names, m.Name) })
}

// drop returns an object without some of its members: v itself if it has none of these.
func (v Value) drop(some func(m Member) bool) Value {
	if slices.ContainsFunc(v.members, some) {
		v.members = slices.DeleteFunc(slices.Clone(v.members), some)
	}
	return v
}
