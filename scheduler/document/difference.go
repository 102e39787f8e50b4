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
func Difference(path string, before, after Value) []Change {
	switch {
	case before.Equal(after):
		return nil
	case before.secret || after.secret:
		return []Change{{Path: path, Secret: true}}
	case before.kind == KindObject && after.kind == KindObject:
		return membersDiffer(path, before, after)
	case before.kind == KindArray && after.kind == KindArray && len(before.items) == len(after.items):
		var all []Change
		for i := range before.items {
			all = append(all, Difference(element(path, i), before.items[i], after.items[i])...)
		}
		return all
	}
	return []Change{{Path: path, Before: shown(before), After: shown(after)}}
}

func membersDiffer(path string, before, after Value) []Change {
	var all []Change
	for _, m := range before.members {
		other, _ := after.Member(m.Name)
		all = append(all, Difference(member(path, m.Name), m.Value, other)...)
	}
	for _, m := range after.members {
		if _, known := before.Member(m.Name); !known {
			all = append(all, Difference(member(path, m.Name), Value{}, m.Value)...)
		}
	}
	return all
}

// shown returns the value to show in a change: nil for null, which means absent.
func shown(v Value) json.RawMessage {
	if v.kind == KindNull {
		return nil
	}
	return v.JSON()
}

// ChangedPaths returns the paths at which two trees differ, up to most of them, in document order with additions
// last. It shows no values, so secrets are safe. An object or array present in only one tree is reported as a whole.
func ChangedPaths(before, after Value, most int) []string {
	c := changes{most: most}
	c.compare("", before, after)
	return c.paths
}

type changes struct {
	most  int
	paths []string
}

func (c *changes) add(path string) {
	if len(c.paths) < c.most {
		c.paths = append(c.paths, path)
	}
}

func (c *changes) compare(path string, before, after Value) {
	switch {
	case len(c.paths) == c.most:
	case before.kind != after.kind, before.kind != KindObject && before.kind != KindArray:
		if !before.Equal(after) {
			c.add(path)
		}
	case before.kind == KindArray:
		c.compareItems(path, before.items, after.items)
	default:
		c.compareMembers(path, before, after)
	}
}

func (c *changes) compareItems(path string, before, after []Value) {
	if len(before) != len(after) {
		c.add(path)
		return
	}
	for i := range before {
		c.compare(element(path, i), before[i], after[i])
	}
}

func (c *changes) compareMembers(path string, before, after Value) {
	for _, m := range before.members {
		if other, ok := after.Member(m.Name); ok {
			c.compare(member(path, m.Name), m.Value, other)
		} else {
			c.add(member(path, m.Name))
		}
	}
	for _, m := range after.members {
		if _, ok := before.Member(m.Name); !ok {
			c.add(member(path, m.Name))
		}
	}
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
