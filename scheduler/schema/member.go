package schema

import (
	"cmp"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Member is the description of a document's field.
type Member struct {
	Path        string   `json:"path"`
	Name        string   `json:"name"`
	Kind        string   `json:"kind"`
	Required    bool     `json:"required"`
	Words       []string `json:"words,omitempty"`  // that it may be
	Bounds      string   `json:"bounds,omitempty"` // the least and the most that it may be
	Default     string   `json:"default,omitempty"`
	Description string   `json:"description"`
	Example     string   `json:"example,omitempty"`
	Types       []string `json:"types,omitempty"`   // of the enclosing object that have it; none: all
	Members     []Member `json:"members,omitempty"` // of an object, or of the objects of a list
	Recurs      bool     `json:"recurs,omitempty"`  // in a tree: it has the fields of the enclosing object
}

// NewMember describes a field and its subfields. around are the fields of the enclosing object.
func NewMember(path string, s *document.Shape, around *document.Members) Member {
	t := Summary(path, s)
	if s.Members != nil && s.Members.Recurs {
		return t // already described by its parent
	}
	t.Members = subfields(path, MembersOf(s, around), Summary)
	slices.SortStableFunc(t.Members, func(a, b Member) int { return cmp.Compare(min(len(a.Types), 1), min(len(b.Types), 1)) })
	return t
}

// subfields describes the fields of an object of any kind.
func subfields(path string, m *document.Members, describe func(path string, s *document.Shape) Member) (all []Member) {
	types := 0
	for _, kind := range append([]document.ObjectKind{{Members: m}}, m.Kinds...) {
		types += len(kind.Words)
		known := kind.Members.Known
		if kind.Members.Free != nil {
			known = append(slices.Clip(known), kind.Members.Free)
		}
		for _, inner := range known {
			i := slices.IndexFunc(all, func(m Member) bool { return m.Name == inner.Name })
			if i < 0 {
				i, all = len(all), append(all, describe(path+"."+inner.Name, inner))
			}
			all[i].Types = append(all[i].Types, kind.Words...)
			all[i].Required = all[i].Required && inner.Required
		}
	}
	for i := range all {
		if len(all[i].Types) == types { // all of them
			all[i].Types = nil
		}
	}
	return all
}

// Tree describes a field with all its subfields, except those that readers ignore, for completion in an editor.
func Tree(path string, s *document.Shape) Member {
	t := Summary(path, s)
	if s.Members == nil {
		return t
	}
	if t.Recurs = s.Members.Recurs; !t.Recurs {
		ignored := func(m Member) bool { return m.Kind == document.FormAny.String() }
		t.Members = slices.DeleteFunc(subfields(path, s.Members, Tree), ignored)
	}
	return t
}

// MembersOf returns the fields of an object. A recursive object has the fields of its enclosing object.
func MembersOf(s *document.Shape, around *document.Members) *document.Members {
	switch {
	case s.Members == nil:
		return &document.Members{}
	case s.Members.Recurs:
		return around
	}
	return s.Members
}

// Summary describes a field without its subfields.
func Summary(path string, s *document.Shape) Member {
	d, _ := Describe(path)
	t := Member{
		Path: path, Name: path[strings.LastIndexByte(path, '.')+1:], Kind: kindOf(s), Required: s.Required,
		Bounds: Bounds(s), Default: d.Default, Description: d.Text, Example: d.Example,
	}
	for _, f := range s.Forms {
		t.Words = append(t.Words, f.Words...)
	}
	return t
}

// kindOf describes a field's type: "string or list of strings".
func kindOf(s *document.Shape) string {
	_, secret := s.Form(document.FormSecret)
	var kinds []string
	for _, f := range s.Forms {
		kind := f.Kind.String()
		switch {
		case secret && (f.Kind == document.FormObject || f.Kind == document.FormText):
			continue // it is the secret's
		case f.Of != document.FormNothing:
			kind += " of " + f.Of.String() + "s"
		}
		kinds = append(kinds, kind)
	}
	return strings.Join(kinds, " or ")
}
