package explain

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/schema"
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
	Types       []string `json:"types,omitempty"`   // of the object around it that it goes with; none: with all
	Members     []Member `json:"members,omitempty"` // of an object, or of the objects of a list
}

// MissingError is a path that no document may have.
type MissingError struct {
	Path string // as far as it is right
	Name string // the missing field
	Near string // suggestion; "" if no name is near
}

// Error names the missing field.
func (e *MissingError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("there is no %q in a job or a collection", e.Name)
	}
	return fmt.Sprintf("%s has no member %q", e.Path, e.Name)
}

// Documents are the shapes of all documents that can be explained, by their
// names in paths.
type Documents map[string]*document.Shape

// New returns the documents for the action types of a registry.
func New(actions scheduler.ActionReader) Documents {
	job := scheduler.JobShape(actions)
	return Documents{"job": job.Flat(envelope), "collection": scheduler.CollectionShape(actions, job).Flat(envelope)}
}

// envelope is the member of a document that holds the others.
const envelope = "properties"

// Find returns the field at a path, such as job.recurrence.schedule, collection.quota or
// job.action.errorAction[1].request.uri. Names are case-insensitive, and the path can contain an envelope. A
// path without job or collection belongs to a job, or else to a collection. The error is a [*MissingError].
func (d Documents) Find(path string) (Member, error) {
	names := strings.Split(path, ".")
	if root := strings.ToLower(names[0]); d[root] != nil {
		return d.find(root, names[1:])
	}
	m, err := d.find("job", names)
	if err == nil {
		return m, nil
	}
	if m, other := d.find("collection", names); other == nil {
		return m, nil
	}
	if missing, ok := errors.AsType[*MissingError](err); ok && missing.Path == "job" {
		missing.Path = ""
		missing.Near = cmp.Or(document.Nearest(missing.Name, []string{"job", "collection"}), missing.Near)
	}
	return Member{}, err
}

func (d Documents) find(root string, names []string) (Member, error) {
	at, s := root, d[root]
	around := s.Members
	if len(names) > 0 && strings.EqualFold(names[0], envelope) {
		names = names[1:]
	}
	for _, name := range names {
		name, _, _ = strings.Cut(name, "[")
		members := membersOf(s, around)
		next, near := memberOf(members, name)
		if next == nil {
			return Member{}, &MissingError{at, name, near}
		}
		at, s, around = at+"."+next.Name, next, members
	}
	return told(at, s, around), nil
}

// membersOf returns the fields of an object. A recursive object has those of the object around it.
func membersOf(s *document.Shape, around *document.Members) *document.Members {
	switch {
	case s.Members == nil:
		return &document.Members{}
	case s.Members.Recurs:
		return around
	}
	return s.Members
}

// Below returns the fields that complete a path with a partial last name, such as job.recurrence.sch.
func (d Documents) Below(path string) []Member {
	at := strings.LastIndexByte(path, '.')
	if at < 0 {
		return []Member{short("job", d["job"]), short("collection", d["collection"])}
	}
	m, err := d.Find(path[:at])
	if err != nil {
		return nil
	}
	for i := range m.Members {
		m.Members[i].Path = path[:at+1] + m.Members[i].Name
	}
	return m.Members
}

// memberOf returns the member of a name, or else the name that is nearest to it.
func memberOf(m *document.Members, name string) (s *document.Shape, near string) {
	names := make([]string, 0, len(m.Known))
	for _, k := range append([]document.ObjectKind{{Members: m}}, m.Kinds...) {
		for _, s := range k.Members.Known {
			if strings.EqualFold(s.Name, name) {
				return s, ""
			}
			names = append(names, s.Name)
		}
	}
	if m.Free != nil && name != "" {
		return m.Free, ""
	}
	return nil, document.Nearest(name, names)
}

// told describes a field and its subfields.
func told(path string, s *document.Shape, around *document.Members) Member {
	t := short(path, s)
	m := membersOf(s, around)
	if s.Members != nil && s.Members.Recurs {
		return t // already described by its parent
	}
	for _, inner := range m.Known {
		t.Members = append(t.Members, short(path+"."+inner.Name, inner))
	}
	if m.Free != nil {
		t.Members = append(t.Members, short(path+"."+m.Free.Name, m.Free))
	}
	for _, kind := range m.Kinds {
		t.Members = addKind(t.Members, path, kind)
	}
	for i := range t.Members {
		if all := t.Members[i].Types; len(m.Kinds) > 0 && len(all) == len(wordsOf(m)) {
			t.Members[i].Types = nil
		}
	}
	slices.SortStableFunc(t.Members, func(a, b Member) int { return cmp.Compare(min(len(a.Types), 1), min(len(b.Types), 1)) })
	return t
}

// addKind adds the fields of one kind of an object.
func addKind(members []Member, path string, kind document.ObjectKind) []Member {
	for _, inner := range kind.Members.Known {
		i := slices.IndexFunc(members, func(m Member) bool { return m.Name == inner.Name })
		if i < 0 {
			i, members = len(members), append(members, short(path+"."+inner.Name, inner))
		}
		members[i].Types = append(members[i].Types, kind.Words...)
		members[i].Required = members[i].Required && inner.Required
	}
	return members
}

// wordsOf returns the types that an object may have.
func wordsOf(m *document.Members) []string {
	var words []string
	for _, kind := range m.Kinds {
		words = append(words, kind.Words...)
	}
	return words
}

// short describes a field without its subfields.
func short(path string, s *document.Shape) Member {
	d, _ := schema.Describe(path)
	t := Member{
		Path: path, Name: path[strings.LastIndexByte(path, '.')+1:], Kind: kindOf(s), Required: s.Required,
		Bounds: schema.Bounds(s), Default: d.Default, Description: d.Text, Example: d.Example,
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
