package document

import (
	"slices"
	"strings"
)

// Object reads the fields of an object. A method that reads a field makes its name known. It returns false if the field
// is absent, null or invalid, after reporting the problem; use [Object.Has] to distinguish absent from invalid. End
// with [Object.Done].
//
// Reading makes the tree canonical in place: a field name and an enum word take the spelling that the caller passed.
type Object struct {
	reader  *Reader
	place   location
	members []Member
	used    []bool   // fields that were read
	known   []string // names that were read, unless the document is trusted
	broken  bool     // not an object, already reported
	shape   *Shape   // records a description; nil: reads a document
	kind    string   // in a description: the value of type; "": any
	few     [usualMembers]bool
}

// usualMembers is the maximum number of fields of nearly all objects.
const usualMembers = 8

// location is the position of a value. Its path is built only for problems, which are rare.
type location struct {
	object *Object // the parent; nil: name is the whole path
	name   string  // the field that is the value or contains it
	index  int     // index in that field; -1: the field itself
}

func (s location) path() string {
	switch {
	case s.object == nil:
		return s.name
	case s.index >= 0:
		return s.object.Element(s.name, s.index)
	}
	return s.object.Path(s.name)
}

// location returns the position of a field.
func (o *Object) location(name string) location { return location{o, name, -1} }

// path returns the path of the object.
func (o *Object) path() string { return o.place.path() }

// Path returns the path of a field.
func (o *Object) Path(name string) string { return member(o.path(), name) }

// Reader returns the reader that collects the object's problems.
func (o *Object) Reader() *Reader { return o.reader }

// Problem reports a problem at a path relative to the object, such as "uri" or "hours[2]"; "" is the object itself.
func (o *Object) Problem(path, format string, args ...any) { //nolint:goprintffuncname // it adds a Problem
	o.reader.Problem(join(o.path(), path), format, args...)
}

// Warn warns of a member.
func (o *Object) Warn(name, message string) {
	o.reader.Warnings = append(o.reader.Warnings, Problem{Path: o.Path(name), Message: message})
}

// Report reports a problem found by other means, with its path relative to the object. It keeps its cause.
func (o *Object) Report(p Problem) {
	p.Path = join(o.path(), p.Path)
	o.reader.add(p)
}

// Has reports whether the field is present and not null.
func (o *Object) Has(name string) bool {
	_, ok := o.Value(name)
	return ok
}

// Holds reports whether the field is present, without making its name known.
func (o *Object) Holds(name string) bool { return o.find(name) >= 0 }

// Require reports a problem if the field is absent or null.
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

// RequireOne reports the first of the fields as missing if all are absent or null. It returns the names of those that
// are present.
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

// Value returns a field unchanged, of any kind except null.
func (o *Object) Value(name string) (Value, bool) {
	o.learn(name)
	i := o.find(name)
	if i < 0 {
		return Value{}, false
	}
	o.used[i] = true
	o.members[i].Name = name // reading makes the tree canonical
	v := o.members[i].Value
	return v, v.kind != KindNull
}

// Refuse reports a problem if the field is present and not null, and returns whether it is.
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

// Null reports whether the field is present and null, which in a patch means "remove".
func (o *Object) Null(name string) bool {
	_, ok := o.Value(name)
	return !ok && o.find(name) >= 0
}

// Set replaces the value of a present field, for answers that show more than the user wrote. It does nothing if the
// field is absent.
func (o *Object) Set(name string, v Value) {
	if i := o.find(name); i >= 0 {
		o.members[i].Value = v
	}
}

// Object returns a field that is an object.
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
	inner := o.reader.object(v, o.location(name))
	return inner, !inner.broken
}

// Inner starts reading v, the value of the field name, as an object.
func (o *Object) Inner(name string, v Value) *Object {
	if o.shape != nil {
		inner, _ := o.Object(name)
		return inner
	}
	return o.reader.object(v, o.location(name))
}

// Done ends the reading. It reports each field that was not read, with the object where it belongs ([Reader.Knows]) or
// the nearest known name.
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

// unknown reports a field that was not read. Its message is completed when the whole document has been read.
func (o *Object) unknown(name string) {
	if name == "" {
		o.Problem("", `unknown field ""`)
		return
	}
	if o.reader.full() {
		return
	}
	o.reader.add(Problem{Path: o.Path(name), Message: "unknown field"})
	o.reader.unknown = append(o.reader.unknown, unknownField{len(o.reader.problems) - 1, o.path(), name, o.known})
}

// of returns a field that must have the given kind.
func (o *Object) of(name string, kind Kind) (Value, bool) {
	v, ok := o.Value(name)
	if ok && v.kind != kind {
		o.reader.mismatch(o.location(name), kind, v)
		return Value{}, false
	}
	return v, ok
}

// find returns the index of the field with that name, exact or in another letter case, or -1.
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
		return // all names are known
	}
	if o.shape != nil {
		o.describe(name)
	}
	if !slices.Contains(o.known, name) {
		o.known = append(o.known, name)
	}
}

// Array returns the elements of an array. [Object.Element] gives their paths.
func (o *Object) Array(name string) ([]Value, bool) {
	v, ok := o.of(name, KindArray)
	return v.items, ok
}

// Element returns the path of the element i of the array name.
func (o *Object) Element(name string, i int) string { return element(o.Path(name), i) }

// Strings returns an array of strings.
func (o *Object) Strings(name string) ([]string, bool) {
	o.wants(name, Form{Kind: FormList, Of: FormText})
	return elements(o, name, func(v Value, at location) (string, bool) {
		if v.kind != KindString {
			o.reader.mismatch(at, KindString, v)
		}
		return v.text, v.kind == KindString
	})
}

// Ints returns an array of integers, each in minimum…maximum.
func (o *Object) Ints(name string, minimum, maximum int64) ([]int, bool) {
	o.wants(name, Form{Kind: FormList, Of: FormInteger, Least: minimum, Most: maximum})
	return elements(o, name, func(v Value, at location) (int, bool) {
		n, ok := o.reader.integer(v, at, minimum, maximum)
		return int(n), ok
	})
}

// Enums returns an array of allowed words, in the spelling of allowed.
func (o *Object) Enums(name string, allowed ...string) ([]string, bool) {
	o.wants(name, Form{Kind: FormList, Of: FormWord}, allowed...)
	words, ok := elements(o, name, func(v Value, at location) (string, bool) {
		return o.reader.word(v, at, allowed)
	})
	if items, _ := o.Array(name); ok {
		for i, word := range words {
			items[i] = StringValue(word) // as Enum does
		}
	}
	return words, ok
}

// Objects returns an array of objects. Call Done on each.
func (o *Object) Objects(name string) ([]*Object, bool) {
	o.wants(name, Form{Kind: FormList, Of: FormObject})
	if o.shape != nil {
		inner, ok := o.described(name)
		if !ok {
			return nil, false
		}
		return []*Object{inner}, true
	}
	return elements(o, name, func(v Value, at location) (*Object, bool) {
		inner := o.reader.object(v, at)
		return inner, !inner.broken
	})
}

// StringMap returns an object whose fields are all strings. Its names keep their letter case.
func (o *Object) StringMap(name string) (map[string]string, bool) {
	o.wants(name, Form{Kind: FormObject, Of: FormText})
	v, ok := o.of(name, KindObject)
	if !ok {
		return nil, false
	}
	texts := make(map[string]string, len(v.members))
	for _, m := range v.members {
		if m.Value.kind != KindString {
			o.reader.mismatch(location{name: member(o.Path(name), m.Name)}, KindString, m.Value)
			ok = false
		}
		texts[m.Name] = m.Value.text
	}
	return texts, ok
}

// elements reads the array name with read, which reports its problems. It reads all elements; one invalid element
// invalidates the array.
func elements[T any](o *Object, name string, read func(v Value, at location) (T, bool)) ([]T, bool) {
	items, ok := o.Array(name)
	if !ok {
		return nil, false
	}
	list := make([]T, 0, len(items))
	for i, item := range items {
		element, right := read(item, location{o, name, i})
		list = append(list, element)
		ok = ok && right
	}
	return list, ok
}
