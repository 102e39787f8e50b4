package document

import (
	"encoding/json"
	"slices"
)

// Change is a difference between two documents at a path. Before and After are omitted if the value is absent or a
// secret. Secrets inside objects are removed.
type Change struct {
	Path   string          `json:"path"`
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
	Secret bool            `json:"secret,omitempty"` // a secret was written or removed; whether its text changed is not reported
}

// Difference returns the differences between two trees rooted at path, in the order of before, followed by additions in
// the order of after. It compares objects by field, and arrays of equal length by element.
func Difference(path string, before, after Value) (all []Change) {
	differ(path, before, after, func(path string, before, after Value) bool {
		switch {
		case before.kind == KindNull && after.kind == KindNull: // one is absent, which means the same
		case before.secret || after.secret:
			all = append(all, Change{Path: path, Secret: true})
		default:
			all = append(all, Change{Path: path, Before: shown(before), After: shown(after)})
		}
		return true
	})
	return all
}

// ChangedPaths returns the paths at which two trees differ, up to most of them, in document order with additions
// last. It shows no values, so secrets are safe. An object or array present in only one tree is reported as a whole.
func ChangedPaths(before, after Value, most int) (paths []string) {
	differ("", before, after, func(path string, _, _ Value) bool {
		if len(paths) < most {
			paths = append(paths, path)
		}
		return len(paths) < most
	})
	return paths
}

// differ calls do for each difference between two trees until it returns false, and reports whether it never did. An
// absent value is null.
func differ(path string, before, after Value, do func(path string, before, after Value) bool) bool {
	switch {
	case before.kind == KindObject && after.kind == KindObject:
		for _, m := range before.members {
			if other, ok := after.Member(m.Name); ok && !differ(member(path, m.Name), m.Value, other, do) ||
				!ok && !do(member(path, m.Name), m.Value, Value{}) {
				return false
			}
		}
		for _, m := range after.members {
			if _, known := before.Member(m.Name); !known && !do(member(path, m.Name), Value{}, m.Value) {
				return false
			}
		}
		return true
	case before.kind == KindArray && after.kind == KindArray && len(before.items) == len(after.items):
		for i := range before.items {
			if !differ(element(path, i), before.items[i], after.items[i], do) {
				return false
			}
		}
		return true
	}
	return before.Equal(after) || do(path, before, after)
}

// shown returns the value to show in a change: nil for null, which means absent.
func shown(v Value) json.RawMessage {
	if v.kind == KindNull {
		return nil
	}
	return v.JSON()
}

// Ignore makes fields known without reading them, so that [Object.Done] does not report them.
func (o *Object) Ignore(names ...string) {
	for _, name := range names {
		o.wants(name, Form{Kind: FormAny})
		o.Value(name)
	}
}

// IgnoreRest makes every unread field known.
func (o *Object) IgnoreRest() {
	if o.shape != nil {
		o.shape.Members.opened = true
	}
	for i := range o.used {
		o.used[i] = true
	}
}

// Without returns an object without the named fields and without null fields. A value of another kind is returned
// unchanged.
func (v Value) Without(names ...string) Value {
	return v.drop(func(m Member) bool { return m.Value.kind == KindNull || slices.Contains(names, m.Name) })
}

// Except returns an object without the named fields. It keeps null fields, which patches need. A value of another kind
// is returned unchanged.
func (v Value) Except(names ...string) Value {
	return v.drop(func(m Member) bool { return slices.Contains(names, m.Name) })
}

// Only returns an object with the named fields, without null fields.
func (v Value) Only(names ...string) Value {
	return v.drop(func(m Member) bool { return m.Value.kind == KindNull || !slices.Contains(names, m.Name) })
}

// drop returns an object without the selected fields: v itself if it has none of them.
func (v Value) drop(some func(m Member) bool) Value {
	if slices.ContainsFunc(v.members, some) {
		v.members = slices.DeleteFunc(slices.Clone(v.members), some)
	}
	return v
}
