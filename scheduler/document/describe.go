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

// Sample is like [Object.Value], but returns sample in a description. The field name * represents all free names.
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

// freeName represents all names that a reader accepts.
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
	return &Object{reader: o.reader, place: o.location(name), shape: s}, true
}

// Shape describes the values that readers accept at a path, as recorded by [ShapeOf].
type Shape struct {
	Name     string   // of the member; "*" of one whose name is free, "" of the document
	Required bool     // the field must be present
	Forms    []Form   // the value must have one of these forms
	Members  *Members // fields of the object, or of an array's objects; else nil
}

// Members describes the fields of an object.
type Members struct {
	Known  []*Shape // in the order of the readers' requests
	Free   *Shape   // shape of all other fields; nil: see Open
	Open   bool     // other fields are allowed
	Either []string // at least one of these must be present; nil: no such rule

	// Kinds are the variants of the object, selected by its field type. Each lists all its fields, including type. Nil:
	// the object has a single variant, described by Known.
	Kinds []ObjectKind

	opened bool // a reader ignores all other fields

	// Recurs marks an object with the same fields as its parent. They are not repeated here.
	Recurs bool
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

// Flat returns the shape of a document without its envelope: first the fields of the object named envelope, then the
// fields next to it.
func (s *Shape) Flat(envelope string) *Shape {
	flat := &Members{Known: slices.Clone(s.Members.Member(envelope).Members.Known)}
	for _, m := range s.Members.Known {
		if m.Name != envelope {
			flat.Known = append(flat.Known, m)
		}
	}
	return &Shape{Forms: s.Forms, Members: flat}
}

// ObjectKind is a variant of an object, selected by its field type.
type ObjectKind struct {
	Words   []string // that type may be
	Members *Members
}

// Member returns the field with that name, nil if there is none. For an object with several kinds, it returns the field
// of the first kind that has it.
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

// Form returns the form of that kind, if the shape has it.
func (s *Shape) Form(kind FormKind) (Form, bool) {
	i := slices.IndexFunc(s.Forms, func(f Form) bool { return f.Kind == kind })
	if i < 0 {
		return Form{}, false
	}
	return s.Forms[i], true
}

// equal reports whether two shapes are equal.
func (s *Shape) equal(t *Shape) bool {
	if s == nil || t == nil {
		return s == t
	}
	sameForm := func(f, g Form) bool {
		return f.Kind == g.Kind && f.Of == g.Of && f.Least == g.Least && f.Most == g.Most && slices.Equal(f.Words, g.Words)
	}
	return s.Name == t.Name && s.Required == t.Required && slices.EqualFunc(s.Forms, t.Forms, sameForm) && s.Members.equal(t.Members)
}

// equal reports whether two objects have the same fields, in any order.
func (m *Members) equal(n *Members) bool {
	if m == nil || n == nil {
		return m == n
	}
	sameKind := func(a, b ObjectKind) bool { return slices.Equal(a.Words, b.Words) && a.Members.equal(b.Members) }
	return m.Open == n.Open && m.Recurs == n.Recurs && m.Free.equal(n.Free) && slices.Equal(m.Either, n.Either) &&
		slices.EqualFunc(m.Kinds, n.Kinds, sameKind) && len(m.Known) == len(n.Known) &&
		!slices.ContainsFunc(m.Known, func(s *Shape) bool { return !s.equal(n.Member(s.Name)) })
}
