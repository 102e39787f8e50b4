package jobform

import (
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// SecretsIn returns the paths of texts that are or may be secrets. In unknown parts of a typed document, the names of
// fields decide.
func (f *Form) SecretsIn(v document.Value) []string {
	s := seeker{form: f}
	inner, wrapped := v.Member("properties")
	if wrapped && inner.Kind() == document.KindObject {
		s.object(inner, f.shape.Members, "properties")
		return s.paths
	}
	s.object(v, f.shape.Members, "")
	return s.paths
}

// seeker searches for secrets.
type seeker struct {
	form  *Form
	paths []string
}

// object searches an object; without members, its fields are unknown.
func (s *seeker) object(v document.Value, m *document.Members, path string) {
	around := m
	if m != nil && len(m.Kinds) > 0 {
		kind := valueAt(v, typeMember).Text()
		i := slices.IndexFunc(m.Kinds, func(k document.ObjectKind) bool { return containsFold(k.Words, kind) })
		if m = nil; i >= 0 {
			m = around.Kinds[i].Members
		}
	}
	for _, member := range v.Members() {
		at := document.MemberPath(path, member.Name)
		var known *document.Shape
		if m != nil {
			if i := slices.IndexFunc(m.Known, func(k *document.Shape) bool { return strings.EqualFold(k.Name, member.Name) }); i >= 0 {
				known = m.Known[i]
			}
		}
		switch {
		case known != nil:
			_, secret := known.Form(document.FormSecret)
			s.value(member.Value, known, around, at, secret)
		case m != nil && m.Free != nil:
			s.value(member.Value, m.Free, around, at, document.IsCredential(member.Name))
		default:
			s.unknown(member.Value, at, member.Name)
		}
	}
}

// value searches a value of a shape.
func (s *seeker) value(v document.Value, shape *document.Shape, around *document.Members, path string, secret bool) {
	switch v.Kind() { //nolint:exhaustive // the others are no secrets
	case document.KindString:
		if secret {
			s.paths = append(s.paths, path)
		}
	case document.KindArray:
		for i, item := range v.Items() {
			s.value(item, shape, around, path+"["+strconv.Itoa(i)+"]", secret)
		}
	case document.KindObject:
		switch m := shape.Members; {
		case m != nil && m.Recurs:
			s.object(v, around, path)
		case m == nil, m.Open && len(m.Known) == 0: // labels or data
		default:
			s.object(v, m, path)
		}
	}
}

// unknown searches a field that jobs do not have.
func (s *seeker) unknown(v document.Value, path, name string) {
	switch v.Kind() { //nolint:exhaustive // the others are no secrets
	case document.KindString:
		if s.form.IsSecret(name) {
			s.paths = append(s.paths, path)
		}
	case document.KindArray:
		for i, item := range v.Items() {
			s.unknown(item, path+"["+strconv.Itoa(i)+"]", name)
		}
	case document.KindObject:
		for _, m := range v.Members() {
			if m.Name != refMember {
				s.unknown(m.Value, document.MemberPath(path, m.Name), m.Name)
			}
		}
	}
}

// IsSecret reports whether a field of that name may be a secret anywhere.
func (f *Form) IsSecret(name string) bool {
	secret, known := f.names[strings.ToLower(name)]
	return secret || !known && document.IsCredential(name)
}

// namesOf adds the names of fields in lower case, and whether they are secrets anywhere.
func namesOf(m *document.Members, names map[string]bool) {
	if m == nil {
		return
	}
	for _, s := range m.Known {
		_, secret := s.Form(document.FormSecret)
		name := strings.ToLower(s.Name)
		names[name] = names[name] || secret
		namesOf(s.Members, names)
	}
	for _, k := range m.Kinds {
		namesOf(k.Members, names)
	}
}
