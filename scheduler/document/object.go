package document

import (
	"slices"
	"strings"
)

// Object reads the members of an object. Each method that reads a member takes its name, makes the name known, and
// returns false for a member that is absent, null or wrong; what is wrong has then been reported. A caller that must
// tell absent from wrong asks [Object.Has]. End with [Object.Done].
//
// Reading brings the tree into canonical form on the way, in place: a member's name and an enum's word take the spelling
// that they are asked for with.
type Object struct {
	reader  *Reader
	place   spot
	members []Member
	used    []bool   // members that were asked for
	known   []string // names that were asked for, unless the document is trusted
	broken  bool     // not an object at all, which was reported
	shape   *Shape   // records a description; nil: a document is read
	kind    string   // in a description: the value of type; "": any
	few     [usualMembers]bool
}

// usualMembers is how many members nearly all objects have, or fewer.
const usualMembers = 8

// spot is where a value stands. Its path is needed where something is to be said about it, which is hardly ever.
type spot struct {
	object *Object // that the value is in; nil: name is the whole path
	name   string  // of the member that is the value, or has it
	index  int     // of the element of that member which it is; -1: it is the member itself
}

func (s spot) path() string {
	switch {
	case s.object == nil:
		return s.name
	case s.index >= 0:
		return s.object.Element(s.name, s.index)
	}
	return s.object.Path(s.name)
}

// spot is the place of a member.
func (o *Object) spot(name string) spot { return spot{o, name, -1} }

// path is where the object stands.
func (o *Object) path() string { return o.place.path() }

// Path returns the path of the member name.
func (o *Object) Path(name string) string { return member(o.path(), name) }

// Reader returns the reader that collects the object's problems.
func (o *Object) Reader() *Reader { return o.reader }

// Problem reports a problem inside the object, at a path seen from it, such as "uri" or "hours[2]"; "" is the object
// itself.
func (o *Object) Problem(path, format string, args ...any) { //nolint:goprintffuncname // it adds a Problem
	o.reader.Problem(join(o.path(), path), format, args...)
}

// Warn warns of a member.
func (o *Object) Warn(name, message string) {
	o.reader.Warnings = append(o.reader.Warnings, Problem{Path: o.Path(name), Message: message})
}

// Report reports a problem that was found inside the object by other means, with its path seen from the object. It
// keeps its cause.
func (o *Object) Report(p Problem) {
	p.Path = join(o.path(), p.Path)
	o.reader.add(p)
}

// Has reports whether the member is there and not null.
func (o *Object) Has(name string) bool {
	_, ok := o.Value(name)
	return ok
}

// Holds reports whether the member is there, without making it known.
func (o *Object) Holds(name string) bool { return o.find(name) >= 0 }

// Require reports the member as missing unless it is there and not null.
func (o *Object) Require(name string) bool {
	o.ask(name)
	if o.shape != nil {
		o.describe(name).Required = true
		return true
	}
	if o.Has(name) {
		return true
	}
	if !o.broken {
		o.Report(Problem{member("", name), ErrRequired.Error(), ErrRequired})
	}
	return false
}

// RequireOne reports the first of some members as missing unless one of them is there and not null. It returns the names of
// those that are.
func (o *Object) RequireOne(names ...string) []string {
	var given []string
	for _, name := range names {
		if o.shape != nil {
			o.shape.Members.Either = append(o.shape.Members.Either, name)
		}
		if o.Has(name) {
			given = append(given, name)
		}
	}
	if len(given) == 0 {
		o.Problem(names[0], "is required; or %s", strings.Join(names[1:], ", or "))
	}
	return given
}

// Value returns a member as it stands, of any kind but null.
func (o *Object) Value(name string) (Value, bool) {
	o.learn(name)
	i := o.find(name)
	if i < 0 {
		return Value{}, false
	}
	o.used[i] = true
	o.members[i].Name = name // the tree becomes canonical as it is read
	v := o.members[i].Value
	return v, v.kind != KindNull
}

// Refuse reports a member that is there, is not null, and does not belong there. It returns whether it is.
func (o *Object) Refuse(name, format string, args ...any) bool {
	i := o.find(name)
	if i < 0 {
		return false
	}
	o.used[i] = true
	if o.members[i].Value.kind == KindNull {
		return false
	}
	o.Problem(member("", name), format, args...)
	return true
}

// Null reports whether the member is there and null, which in a patch means "remove".
func (o *Object) Null(name string) bool {
	_, ok := o.Value(name)
	return !ok && o.find(name) >= 0
}

// Set replaces the value of a member that is there, for what the answer to a document tells beside what was written. It
// does nothing when the member is absent.
func (o *Object) Set(name string, v Value) {
	if i := o.find(name); i >= 0 {
		o.members[i].Value = v
	}
}

// Object returns a member that is itself an object.
func (o *Object) Object(name string) (*Object, bool) {
	o.ask(name)
	o.wants(name, Form{Kind: FormObject})
	if o.shape != nil {
		return o.described(name)
	}
	v, ok := o.Value(name)
	if !ok {
		return nil, false
	}
	inner := o.reader.object(v, o.spot(name))
	return inner, !inner.broken
}

// Inner begins to read v, which the member name is known to hold, as an object.
func (o *Object) Inner(name string, v Value) *Object {
	if o.shape != nil {
		inner, _ := o.Object(name)
		return inner
	}
	return o.reader.object(v, o.spot(name))
}

// Done ends the reading: every member that nobody asked for is reported, with where it belongs ([Reader.Knows]) or the
// nearest name that somebody did ask for.
func (o *Object) Done() {
	if o.shape != nil {
		o.shape.Members.close()
	}
	for i, m := range o.members {
		if !o.used[i] {
			o.unknown(m.Name)
		}
	}
}

// unknown reports a member that nobody asked for. What is to be said about it shows when the document was read.
func (o *Object) unknown(name string) {
	if name == "" {
		o.Problem("", `unknown field ""`)
		return
	}
	if o.reader.full() {
		return
	}
	o.reader.add(Problem{Path: o.Path(name), Message: "unknown field"})
	o.reader.strays = append(o.reader.strays, stray{len(o.reader.problems) - 1, o.path(), name, o.known})
}

// of returns a member that must be of the given kind.
func (o *Object) of(name string, kind Kind) (Value, bool) {
	v, ok := o.Value(name)
	if ok && v.kind != kind {
		o.reader.mismatch(o.spot(name), kind, v)
		return Value{}, false
	}
	return v, ok
}

// find returns the index of the member of that name, or of one that differs from it by case only, or -1.
func (o *Object) find(name string) int {
	for i := range o.members {
		if o.members[i].Name == name {
			return i
		}
	}
	if o.reader.Trusted {
		return -1 // names are canonical
	}
	for i := range o.members {
		if len(o.members[i].Name) == len(name) && strings.EqualFold(o.members[i].Name, name) {
			return i
		}
	}
	return -1
}

// learn adds name to the known names.
func (o *Object) learn(name string) {
	if o.reader.Trusted {
		return // nobody made a mistake
	}
	if o.shape != nil {
		o.describe(name)
	}
	if !slices.Contains(o.known, name) {
		o.known = append(o.known, name)
	}
}

// Array returns the elements of a member that is an array. [Object.Element] gives their paths.
func (o *Object) Array(name string) ([]Value, bool) {
	v, ok := o.of(name, KindArray)
	return v.items, ok
}

// Element returns the path of the element i of the array name.
func (o *Object) Element(name string, i int) string { return element(o.Path(name), i) }

// Strings returns a member that is an array of strings.
func (o *Object) Strings(name string) ([]string, bool) {
	o.wants(name, Form{Kind: FormList, Of: FormText})
	return elements(o, name, func(v Value, at spot) (string, bool) {
		if v.kind != KindString {
			o.reader.mismatch(at, KindString, v)
		}
		return v.text, v.kind == KindString
	})
}

// Ints returns a member that is an array of whole numbers, each in minimum…maximum.
func (o *Object) Ints(name string, minimum, maximum int64) ([]int, bool) {
	o.wants(name, Form{Kind: FormList, Of: FormInteger, Least: minimum, Most: maximum})
	return elements(o, name, func(v Value, at spot) (int, bool) {
		n, ok := o.reader.integer(v, at, minimum, maximum)
		return int(n), ok
	})
}

// Enums returns a member that is an array of the allowed words, spelled as given here.
func (o *Object) Enums(name string, allowed ...string) ([]string, bool) {
	o.wants(name, Form{Kind: FormList, Of: FormWord}, allowed...)
	words, ok := elements(o, name, func(v Value, at spot) (string, bool) {
		return o.reader.word(v, at, allowed)
	})
	if items, _ := o.Array(name); ok {
		for i, word := range words {
			items[i] = StringValue(word) // as Enum does
		}
	}
	return words, ok
}

// Objects returns a member that is an array of objects. Call Done on each.
func (o *Object) Objects(name string) ([]*Object, bool) {
	o.wants(name, Form{Kind: FormList, Of: FormObject})
	if o.shape != nil {
		inner, ok := o.described(name)
		if !ok {
			return nil, false
		}
		return []*Object{inner}, true
	}
	return elements(o, name, func(v Value, at spot) (*Object, bool) {
		inner := o.reader.object(v, at)
		return inner, !inner.broken
	})
}

// StringMap returns a member that is an object whose members are all strings. Its names keep their letter case.
func (o *Object) StringMap(name string) (map[string]string, bool) {
	o.wants(name, Form{Kind: FormObject, Of: FormText})
	v, ok := o.of(name, KindObject)
	if !ok {
		return nil, false
	}
	texts := make(map[string]string, len(v.members))
	for _, m := range v.members {
		if m.Value.kind != KindString {
			o.reader.mismatch(spot{name: member(o.Path(name), m.Name)}, KindString, m.Value)
			ok = false
		}
		texts[m.Name] = m.Value.text
	}
	return texts, ok
}

// elements reads the array name with read, which reports what is wrong. All elements are read; one wrong element makes
// the whole wrong.
func elements[T any](o *Object, name string, read func(v Value, at spot) (T, bool)) ([]T, bool) {
	items, ok := o.Array(name)
	if !ok {
		return nil, false
	}
	list := make([]T, 0, len(items))
	for i, item := range items {
		element, right := read(item, spot{o, name, i})
		list = append(list, element)
		ok = ok && right
	}
	return list, ok
}
