package jobform

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// walker traverses a document and its form together: it creates the fields and the document from the submitted values.
type walker struct {
	in      Input
	values  url.Values // nil: not submitted
	do      string
	reading *Reading
}

// optionalValue is the value at a position; ok reports whether it exists.
type optionalValue struct {
	v  document.Value
	ok bool
}

// wrong adds a problem of a field.
func (w *walker) wrong(f *Field, message string) {
	f.Problems = append(f.Problems, message)
	w.reading.Problems = append(w.reading.Problems, Wrong{Path: f.Path, Message: message, Field: f.ID, Label: f.Label})
}

// typed returns the submitted value of an input; false if the form lacked it.
func (w *walker) typed(name string) (string, bool) {
	all := w.values[name]
	if len(all) == 0 {
		return "", false
	}
	return all[len(all)-1], true
}

// member creates the field of a member, nil if it has none, and parses its value. around is the model of error actions.
func (w *walker) member(s *document.Shape, around *document.Members, at location, base optionalValue) (*Field, optionalValue) {
	_, secret := s.Form(document.FormSecret)
	_, anything := s.Form(document.FormAny)
	object, isObject := s.Form(document.FormObject)
	list, isList := s.Form(document.FormList)
	present := base.ok && base.v.Kind() != document.KindNull
	switch {
	case anything:
		return nil, base
	case secret:
		return w.secret(s, at, base)
	case isList && list.Of == document.FormObject:
		return w.items(s, around, at, base)
	case isObject && present && base.v.Kind() != document.KindObject:
		return w.leaf(s, at, base)
	case isObject && (object.Of == document.FormText || s.Members != nil && s.Members.Free != nil):
		return w.rows(s, at, base)
	case isObject && s.Members.Open && len(s.Members.Known) == 0:
		return w.data(s, at, base)
	case isObject:
		return w.object(s, at, base)
	}
	return w.leaf(s, at, base)
}

// object creates the fields of an object. An object without values is absent, unless it was present and empty.
func (w *walker) object(s *document.Shape, at location, base optionalValue) (*Field, optionalValue) {
	f := newField(KindObject, s, at)
	v := w.members(f, s.Members, at, base.v)
	if base.ok && removed(v) && !v.Equal(base.v) {
		return f, optionalValue{document.Value{}, true}
	}
	if len(v.Members()) == 0 {
		if base.ok && len(base.v.Members()) == 0 { // null, or still empty
			return f, base
		}
		return f, optionalValue{}
	}
	return f, optionalValue{v, true}
}

// removed reports whether an object contains only removals.
func removed(v document.Value) bool {
	stays := func(m document.Member) bool { return m.Value.Kind() != document.KindNull }
	return len(v.Members()) > 0 && !slices.ContainsFunc(v.Members(), stays)
}

// members parses an object and adds its fields to f: the common fields and the fields of its kind.
func (w *walker) members(f *Field, around *document.Members, at location, base document.Value) document.Value {
	known, members := around.Known, slices.Clone(base.Members())
	if len(around.Kinds) > 0 {
		var was string
		var same bool
		known, was, same = w.kind(f, around, at, &members)
		members = ofKind(members, around, was, known)
		if !same {
			at.was = "another type" // the previous kind's secrets do not belong to it
		}
	}
	for _, s := range known {
		if at.path == "" && w.leftOut(s.Name) || s.Name == typeMember && len(around.Kinds) > 0 {
			continue
		}
		i, b := optional(members, s.Name)
		inner := at.member(s.Name)
		field, now := w.member(s, around, inner, b)
		members = put(members, i, s.Name, now)
		if field != nil {
			place(f, field, s, inner.key, b.ok, known)
		}
	}
	f.Open = slices.ContainsFunc(f.More, (*Field).filled)
	return document.ObjectValue(members...)
}

// doubles are fields that both an action and its message have. They are shown where they are set.
var doubles = map[string]bool{
	".action.envelope": true, ".action.cloudEvent": true, ".action.template": true, ".action.data": true,
}

// place adds a field, whose path without indexes is key, to its group.
func place(f, field *Field, s *document.Shape, key string, there bool, known []*document.Shape) {
	first := func(s *document.Shape) bool { return s.Required || slices.Contains(often, s.Name) }
	switch {
	case doubles[strings.ReplaceAll(key, ".errorAction", "")] && !there:
	case first(s), f.Path == "", !slices.ContainsFunc(known, first):
		f.Fields = append(f.Fields, field)
	default:
		f.More = append(f.More, field)
	}
}

// leftOut reports whether the form omits a field of the document.
func (w *walker) leftOut(name string) bool {
	if name == "name" || name == "collection" {
		return !w.in.New
	}
	return slices.Contains(w.in.Except, name)
}

// typeMember is the field with the kind of an object.
const typeMember = "type"

// kind creates the field with the kind of an object, and returns the members of the selected kind and the previous
// kind.
func (w *walker) kind(
	f *Field, around *document.Members, at location, members *[]document.Member,
) (known []*document.Shape, was string, same bool) {
	shape := around.Member(typeMember)
	i, b := optional(*members, typeMember)
	was = b.v.Text()
	if at.key != ".action" && !strings.HasSuffix(at.key, ".errorAction") {
		optional := *shape // as the object is
		optional.Required = false
		shape = &optional
	}
	field, now := w.leaf(shape, at.member(typeMember), b)
	field.Retypes = true
	f.Fields = append(f.Fields, field)
	*members = put(*members, i, typeMember, now)
	if m := membersOf(around, now.v.Text()); m != nil {
		return m.Known, was, was == "" || strings.EqualFold(was, now.v.Text())
	}
	return nil, was, was == now.v.Text()
}

// ofKind removes the members of the previous kind if the kind has changed.
func ofKind(members []document.Member, around *document.Members, was string, known []*document.Shape) []document.Member {
	old := membersOf(around, was)
	return slices.DeleteFunc(members, func(m document.Member) bool {
		return old != nil && m.Name != typeMember && shapeOf(old.Known, m.Name) != nil && shapeOf(known, m.Name) == nil
	})
}

// membersOf returns the members of a kind of objects, in any letter case; nil for an unknown kind.
func membersOf(around *document.Members, kind string) *document.Members {
	for _, k := range around.Kinds {
		if slices.ContainsFunc(k.Words, func(w string) bool { return strings.EqualFold(w, kind) }) {
			return k.Members
		}
	}
	return nil
}

// shapeOf returns the shape of a field, in any letter case; nil for an unknown field.
func shapeOf(known []*document.Shape, name string) *document.Shape {
	if i := slices.IndexFunc(known, func(s *document.Shape) bool { return strings.EqualFold(s.Name, name) }); i >= 0 {
		return known[i]
	}
	return nil
}

// indexOf returns the index of a member by name, in any letter case, or -1.
func indexOf(members []document.Member, name string) int {
	if i := slices.IndexFunc(members, func(m document.Member) bool { return m.Name == name }); i >= 0 {
		return i
	}
	return slices.IndexFunc(members, func(m document.Member) bool { return strings.EqualFold(m.Name, name) })
}

// optional returns the value of a member by name, and its index or -1.
func optional(members []document.Member, name string) (i int, v optionalValue) {
	if i = indexOf(members, name); i >= 0 {
		v = optionalValue{members[i].Value, true}
	}
	return i, v
}

// put returns members with the value at i replaced or removed; -1 adds a member.
func put(members []document.Member, i int, name string, now optionalValue) []document.Member {
	switch {
	case i < 0 && now.ok:
		return append(members, document.Member{Name: name, Value: now.v})
	case i >= 0 && !now.ok:
		return slices.Delete(members, i, i+1)
	case i >= 0:
		members[i].Value = now.v
	}
	return members
}

// itemMark is the input that marks an existing item.
const itemMark = "~item"

// errorAction is the field with the error actions.
const errorAction = "errorAction"

// items creates the fields of a list of objects. If the document has a single object in place of the list, it stays one
// as long as the list has one element.
func (w *walker) items(s *document.Shape, around *document.Members, at location, base optionalValue) (*Field, optionalValue) {
	var was []document.Value
	switch base.v.Kind() {
	case document.KindNull:
	case document.KindArray:
		was = base.v.Items()
	case document.KindObject:
		if _, mayBe := s.Form(document.FormObject); !mayBe {
			return w.leaf(s, at, base)
		}
		was = []document.Value{base.v}
	case document.KindBool, document.KindNumber, document.KindString:
		return w.leaf(s, at, base)
	}
	f := newField(KindItems, s, at)
	members := s.Members
	if members == nil || members.Recurs {
		members = around
	}
	_, mayBeAlone := s.Form(document.FormObject)
	tokens := w.tokens(at.name, "[", len(was))
	alone := mayBeAlone && len(tokens) <= 1 && (base.v.Kind() == document.KindObject || len(was) == 0)
	var now []document.Value
	for n, i := range tokens {
		here := at.item(i, n, alone, base.v.Kind() == document.KindObject)
		item := &Field{Kind: KindObject, Name: here.name, ID: "f-" + here.name, Path: here.path}
		item.Label = words.Text("jobform.item", f.Label, n+1)
		item.Try = w.in.Tries && lastName(at.key) == errorAction
		item.Focus = w.values != nil && !w.values.Has(here.name+itemMark)
		f.Items = append(f.Items, item)
		if i < len(was) {
			now = append(now, w.item(item, members, here, was[i]))
			continue
		}
		now = append(now, w.members(item, members, here, document.Value{}))
	}
	switch {
	case len(now) == 0 && base.ok && len(was) == 0:
		return f, base
	case len(now) == 0:
		return f, optionalValue{}
	case alone:
		return f, optionalValue{now[0], true}
	}
	return f, optionalValue{document.ArrayValue(now...), true}
}

// item returns the position of an element: i is its number in the form, n in the document. alone, wasAlone: the element
// is, or was, a single object in place of the list.
func (s location) item(i, n int, alone, wasAlone bool) location {
	here := location{
		name: s.name + "[" + strconv.Itoa(i) + "]", path: s.path + "[" + strconv.Itoa(n) + "]",
		was: s.was + "[" + strconv.Itoa(i) + "]", key: s.key,
	}
	if alone {
		here.path = s.path
	}
	if wasAlone {
		here.was = s.was
	}
	return here
}

// item parses an existing element. An element that is not an object has no fields and stays unchanged.
func (w *walker) item(f *Field, members *document.Members, at location, was document.Value) document.Value {
	v := w.members(f, members, at, was)
	if was.Kind() == document.KindObject || len(v.Members()) > 0 && was.Kind() == document.KindNull {
		return v
	}
	return was
}
