package document

import "encoding/json"

// Change is a place at which two documents differ. Before and After are what stands there, and are left out where nothing
// does, or where it is a secret. What they show of an object has no secrets.
type Change struct {
	Path   string          `json:"path"`
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
	Secret bool            `json:"secret,omitempty"` // a secret is written there, or removed; whether it is another is not told
}

// Difference returns where two trees differ, whose paths begin with path: in the order of before, and then of what is new
// in after. Objects are compared member by member, and arrays of one length element by element.
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

// shown is a value in a change: nothing for null, which is how a document says that nothing is there.
func shown(v Value) json.RawMessage {
	if v.kind == KindNull {
		return nil
	}
	return v.JSON()
}
