package document

import (
	"slices"
)

// ShapeOf returns the shape of the documents that read accepts. read describes them: it gets an empty object that records
// each request for a field. Nested objects are present and empty. A reader that requests a field only in some documents must
// request it in a description too, with [Object.Describes], [Object.EachKind] or [Object.Sample].
//
// An errorAction has the shape of the action around it, and is not followed.
func ShapeOf(read func(o *Object)) *Shape {
	root := &Shape{Forms: []Form{{Kind: FormObject}}, Members: &Members{Open: true}}
	read(&Object{reader: NewReader(), shape: root})
	root.settle()
	return root
}

// Describes reports whether the object records a description. Its reader must request every field that it may have.
func (o *Object) Describes() bool { return o.shape != nil }

// Sample is like [Object.Value], but returns sample in a description. A field named * stands for all fields with free names.
func (o *Object) Sample(name string, sample Value) (Value, bool) {
	if o.Describes() {
		return sample, true
	}
	return o.Value(name)
}

// EachKind describes an object whose required field type selects one of several kinds: it calls read with an object of each
// kind. It returns false outside a description, where the caller reads the object itself.
func (o *Object) EachKind(read func(o *Object), kinds ...string) bool {
	if o.shape == nil || o.kind != "" {
		return false
	}
	for _, kind := range kinds {
		s := &Shape{Members: &Members{Open: true}}
		inner := &Object{reader: o.reader, place: o.place, shape: s, kind: kind}
		inner.wants(typeMember, Form{Kind: FormWord}, kinds...)
		inner.describe(typeMember).Required = true
		read(inner)
		o.shape.Members.Open = false
		o.shape.Members.Kinds = append(o.shape.Members.Kinds, ObjectKind{[]string{kind}, s.Members})
	}
	return true
}

// typeMember is the field that selects the kind of an object.
const typeMember = "type"

// describe returns the shape of a field in a description.
func (o *Object) describe(name string) *Shape {
	m := o.shape.Members
	if name == freeName {
		if m.Free == nil {
			m.Free = &Shape{Name: name}
		}
		return m.Free
	}
	i := slices.IndexFunc(m.Known, func(s *Shape) bool { return s.Name == name })
	if i < 0 {
		i, m.Known = len(m.Known), append(m.Known, &Shape{Name: name})
	}
	return m.Known[i]
}

// freeName stands for all names that a reader accepts.
const freeName = "*"

// wants records the form of a field in a description. The words are a separate parameter to keep them off the heap when a
// document is read.
func (o *Object) wants(name string, f Form, words ...string) {
	if o.shape != nil {
		f.Words = slices.Clone(words)
		s := o.describe(name)
		s.Forms = f.add(s.Forms)
	}
}

// described returns a nested object of a description, except for an errorAction.
func (o *Object) described(name string) (*Object, bool) {
	s := o.describe(name)
	if name == errorAction {
		s.Members = &Members{Open: true, Recurs: true}
		return nil, false
	}
	if s.Members == nil {
		s.Members = &Members{Open: true}
	}
	return &Object{reader: o.reader, place: o.spot(name), shape: s}, true
}

// close records that a reader refuses all other fields.
func (m *Members) close() {
	m.Open = m.Open && m.opened
	for _, kind := range m.Kinds {
		kind.Members.close()
	}
}

// settle removes fields without a form and merges kinds with equal fields.
func (s *Shape) settle() {
	m := s.Members
	if m == nil {
		return
	}
	m.Known = slices.DeleteFunc(m.Known, func(s *Shape) bool { return len(s.Forms) == 0 })
	for _, inner := range m.Known {
		inner.settle()
	}
	if m.Free != nil {
		m.Free.settle()
		m.Open = false
	}
	all := m.Kinds
	m.Kinds = nil
	for _, kind := range all {
		(&Shape{Members: kind.Members}).settle()
		i := slices.IndexFunc(m.Kinds, func(k ObjectKind) bool { return k.Members.equal(kind.Members) })
		if i < 0 {
			m.Kinds = append(m.Kinds, kind)
		} else {
			m.Kinds[i].Words = append(m.Kinds[i].Words, kind.Words...)
		}
	}
}

// Shape is what readers take at a place of a document, as they describe it to [ShapeOf].
type Shape struct {
	Name     string   // of the member; "*" of one whose name is free, "" of the document
	Required bool     // it has to be there
	Forms    []Form   // one of which it has to have
	Members  *Members // of the object that it is, or that its elements are; else nil
}

// Flat returns the shape of a document that is written without its envelope: the members of the object called envelope come
// first, and then those beside it.
func (s *Shape) Flat(envelope string) *Shape {
	flat := &Members{Known: slices.Clone(s.Members.Member(envelope).Members.Known)}
	for _, m := range s.Members.Known {
		if m.Name != envelope {
			flat.Known = append(flat.Known, m)
		}
	}
	return &Shape{Forms: s.Forms, Members: flat}
}

// Members are what an object may have.
type Members struct {
	Known  []*Shape // in the order in which readers ask for them
	Free   *Shape   // what members of all other names are; nil: see Open
	Open   bool     // there may be members of other names
	Either []string // of which one has to be there; nil: none has to

	// Kinds are the kinds of the object, which its member type tells; each knows all members that it may have, that one
	// among them. Nil: there is one kind, which Known tells.
	Kinds []ObjectKind

	opened bool // a reader ignores all other fields

	// Recurs says that the object is like the one that it stands in, and nothing else is told of it here.
	Recurs bool
}

// ObjectKind is a kind of an object whose member type tells it.
type ObjectKind struct {
	Words   []string // that type may be
	Members *Members
}

// Member returns the member of that name; nil if there is none. Of an object of several kinds, it is that of the first
// kind that has it.
func (m *Members) Member(name string) *Shape {
	if i := slices.IndexFunc(m.Known, func(s *Shape) bool { return s.Name == name }); i >= 0 {
		return m.Known[i]
	}
	for _, kind := range m.Kinds {
		if s := kind.Members.Member(name); s != nil {
			return s
		}
	}
	return nil
}

// Form returns the form of a kind, if the shape has it.
func (s *Shape) Form(kind FormKind) (Form, bool) {
	i := slices.IndexFunc(s.Forms, func(f Form) bool { return f.Kind == kind })
	if i < 0 {
		return Form{}, false
	}
	return s.Forms[i], true
}

// equal reports whether two shapes are the same.
func (s *Shape) equal(t *Shape) bool {
	if s == nil || t == nil {
		return s == t
	}
	sameForm := func(f, g Form) bool {
		return f.Kind == g.Kind && f.Of == g.Of && f.Least == g.Least && f.Most == g.Most && slices.Equal(f.Words, g.Words)
	}
	return s.Name == t.Name && s.Required == t.Required && slices.EqualFunc(s.Forms, t.Forms, sameForm) && s.Members.equal(t.Members)
}

// equal reports whether two objects may have the same members, in whatever order readers ask for them.
func (m *Members) equal(n *Members) bool {
	if m == nil || n == nil {
		return m == n
	}
	sameKind := func(a, b ObjectKind) bool { return slices.Equal(a.Words, b.Words) && a.Members.equal(b.Members) }
	return m.Open == n.Open && m.Recurs == n.Recurs && m.Free.equal(n.Free) && slices.Equal(m.Either, n.Either) &&
		slices.EqualFunc(m.Kinds, n.Kinds, sameKind) && len(m.Known) == len(n.Known) &&
		!slices.ContainsFunc(m.Known, func(s *Shape) bool { return !s.equal(n.Member(s.Name)) })
}
