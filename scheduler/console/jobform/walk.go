package jobform

import (
	"net/url"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// walker goes through a document and the form of it at once: it makes the fields, and of what was typed into them the document.
type walker struct {
	in      Input
	values  url.Values // nil: nothing was typed
	do      string
	reading *Reading
	kept    []kept
}

// kept is a stored secret that is to stay.
type kept struct {
	path, was string
	wrong     func(message string)
}

// got is what stands at a place of the document, ok if anything does.
type got struct {
	v  document.Value
	ok bool
}

// wrong adds a problem of a field itself.
func (w *walker) wrong(f *Field, message string) {
	f.Problems = append(f.Problems, message)
	w.reading.Problems = append(w.reading.Problems, Wrong{Path: f.Path, Message: message, Field: f.ID, Label: f.Label})
}

// typed returns what was typed into an input, false when the form had none of the name.
func (w *walker) typed(name string) (string, bool) {
	all := w.values[name]
	if len(all) == 0 {
		return "", false
	}
	return all[len(all)-1], true
}

// member makes the field of a member, nil where there is none, and reads what it has. around is what errorActions are like.
func (w *walker) member(s *document.Shape, around *document.Members, at spot, base got) (*Field, got) {
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

// object makes the fields of an object. One in which nothing was typed is not there, unless it was, and empty.
func (w *walker) object(s *document.Shape, at spot, base got) (*Field, got) {
	f := newField(KindObject, s, at)
	v, some := w.members(f, s.Members, s.Members.Known, at, base.v, false)
	if base.ok && removed(v) && !v.Equal(base.v) {
		return f, got{document.Value{}, true}
	}
	if !some {
		if base.ok && len(base.v.Members()) == 0 { // null, or empty as it was
			return f, base
		}
		return f, got{}
	}
	return f, got{v, true}
}

// removed reports whether an object has nothing but what is to be removed.
func removed(v document.Value) bool {
	stays := func(m document.Member) bool { return m.Value.Kind() != document.KindNull }
	return len(v.Members()) > 0 && !slices.ContainsFunc(v.Members(), stays)
}

// members reads the members of an object, and gives their fields to f: those that all kinds of it have, and those of the kind
// that it is. some tells whether there are some.
func (w *walker) members(
	f *Field, around *document.Members, known []*document.Shape, at spot, base document.Value, root bool,
) (v document.Value, some bool) {
	members := slices.Clone(base.Members())
	if len(around.Kinds) > 0 {
		var was string
		var same bool
		known, was, same = w.kind(f, around, at, &members)
		members = ofKind(members, around, was, known)
		if !same {
			at.was = "another type" // no secret of the one that was belongs to it
		}
	}
	for _, s := range known {
		if root && w.leftOut(s.Name) || s.Name == typeMember && len(around.Kinds) > 0 {
			continue
		}
		i := indexOf(members, s.Name)
		var b got
		inner := at.member(s.Name)
		if i >= 0 {
			b = got{members[i].Value, true}
		}
		field, now := w.member(s, around, inner, b)
		members = put(members, i, s.Name, now)
		if field == nil {
			continue
		}
		w.place(f, field, s, b.ok, known)
	}
	if !root {
		for _, inner := range f.More {
			f.Open = f.Open || inner.filled()
		}
	}
	return document.ObjectValue(members...), len(members) > 0
}

// doubles are members of an action that its message has as well. They are shown where they are set.
var doubles = map[string]bool{
	".action.envelope": true, ".action.cloudEvent": true, ".action.template": true, ".action.data": true,
}

// place gives a field to those that it belongs to.
func (w *walker) place(f, field *Field, s *document.Shape, there bool, known []*document.Shape) {
	key := strings.ReplaceAll(field.key(), ".errorAction", "")
	first := func(s *document.Shape) bool { return s.Required || often[s.Name] }
	switch {
	case doubles[key] && !there:
	case first(s), f.Path == "", !slices.ContainsFunc(known, first):
		f.Fields = append(f.Fields, field)
	default:
		f.More = append(f.More, field)
	}
}

// key is the path of a field without indexes.
func (f *Field) key() string {
	var b strings.Builder
	b.WriteByte('.')
	depth := 0
	for _, r := range f.Path {
		switch r {
		case '[':
			depth++
		case ']':
			depth--
		default:
			if depth == 0 {
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

// leftOut reports whether a member of the document has no field here.
func (w *walker) leftOut(name string) bool {
	switch name {
	case "name", "collection":
		return !w.in.New
	}
	return slices.Contains(w.in.Except, name)
}

// typeMember tells the kind of an object that may be of several.
const typeMember = "type"

// kind makes the field that tells the kind of an object, and returns the members of the one that was chosen, and which it was.
func (w *walker) kind(
	f *Field, around *document.Members, at spot, members *[]document.Member,
) (known []*document.Shape, was string, same bool) {
	shape := around.Member(typeMember)
	i := indexOf(*members, typeMember)
	var b got
	if i >= 0 {
		b = got{(*members)[i].Value, true}
		was = b.v.Text()
	}
	if at.key != ".action" && !strings.HasSuffix(at.key, ".errorAction") {
		optional := *shape // as the object is
		optional.Required = false
		shape = &optional
	}
	field, now := w.leaf(shape, at.member(typeMember), b)
	field.Retypes = true
	f.Fields = append(f.Fields, field)
	*members = put(*members, i, typeMember, now)
	for _, k := range around.Kinds {
		if containsFold(k.Words, now.v.Text()) {
			return k.Members.Known, was, was == "" || strings.EqualFold(was, now.v.Text())
		}
	}
	return nil, was, was == now.v.Text()
}

// ofKind leaves out the members of the kind that an object was, if it is another one now.
func ofKind(members []document.Member, around *document.Members, was string, known []*document.Shape) []document.Member {
	var old []*document.Shape
	for _, k := range around.Kinds {
		if containsFold(k.Words, was) {
			old = k.Members.Known
		}
	}
	has := func(all []*document.Shape, name string) bool {
		return slices.ContainsFunc(all, func(s *document.Shape) bool { return strings.EqualFold(s.Name, name) })
	}
	return slices.DeleteFunc(members, func(m document.Member) bool {
		return m.Name != typeMember && has(old, m.Name) && !has(known, m.Name)
	})
}

func containsFold(words []string, word string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, word) })
}

// indexOf returns where the member of a name is, in any letter case, or -1.
func indexOf(members []document.Member, name string) int {
	if i := slices.IndexFunc(members, func(m document.Member) bool { return m.Name == name }); i >= 0 {
		return i
	}
	return slices.IndexFunc(members, func(m document.Member) bool { return strings.EqualFold(m.Name, name) })
}

// put returns members with another value of the one at i, or without it; -1 is a new one.
func put(members []document.Member, i int, name string, now got) []document.Member {
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
