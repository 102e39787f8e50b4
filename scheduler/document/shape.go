package document

import "slices"

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
