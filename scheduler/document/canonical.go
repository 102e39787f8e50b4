package document

import "slices"

// Ignore makes members known without reading them, so that [Object.Done] does not report them.
func (o *Object) Ignore(names ...string) {
	for _, name := range names {
		o.Value(name)
	}
}

// IgnoreRest makes every member that was not read yet known.
func (o *Object) IgnoreRest() {
	for i := range o.used {
		o.used[i] = true
	}
}

// Without returns an object without the members of the given names, and without those that are null. A value of another
// kind is returned as it is.
func (v Value) Without(names ...string) Value {
	return v.filter(func(name string) bool { return !slices.Contains(names, name) })
}

// Except returns an object without the members of the given names: those that are null stay, as a patch needs them. A value
// of another kind is returned as it is.
func (v Value) Except(names ...string) Value {
	if v.kind != KindObject {
		return v
	}
	return ObjectValue(slices.DeleteFunc(slices.Clone(v.members), func(m Member) bool { return slices.Contains(names, m.Name) })...)
}

// Only returns an object with no members but those of the given names, and without those that are null.
func (v Value) Only(names ...string) Value {
	return v.filter(func(name string) bool { return slices.Contains(names, name) })
}

func (v Value) filter(keep func(name string) bool) Value {
	if v.kind != KindObject {
		return v
	}
	kept := make([]Member, 0, len(v.members))
	for _, m := range v.members {
		if keep(m.Name) && m.Value.kind != KindNull {
			kept = append(kept, m)
		}
	}
	return ObjectValue(kept...)
}
