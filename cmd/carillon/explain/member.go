package explain

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/schema"
)

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

// envelope is the field of a document that holds the others.
const envelope = "properties"

// Find returns the field at a path, such as job.recurrence.schedule, collection.quota or
// job.action.errorAction[1].request.uri. Names are case-insensitive, and the path can contain an envelope. A
// path without job or collection belongs to a job, or else to a collection. The error is a [*MissingError].
func (d Documents) Find(path string) (schema.Member, error) {
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
	return schema.Member{}, err
}

func (d Documents) find(root string, names []string) (schema.Member, error) {
	at, s := root, d[root]
	around := s.Members
	if len(names) > 0 && strings.EqualFold(names[0], envelope) {
		names = names[1:]
	}
	for _, name := range names {
		name, _, _ = strings.Cut(name, "[")
		members := schema.MembersOf(s, around)
		next, near := memberOf(members, name)
		if next == nil {
			return schema.Member{}, &MissingError{at, name, near}
		}
		at, s, around = at+"."+next.Name, next, members
	}
	return schema.NewMember(at, s, around), nil
}

// Below returns the fields that complete a path with a partial last name, such as job.recurrence.sch.
func (d Documents) Below(path string) []schema.Member {
	at := strings.LastIndexByte(path, '.')
	if at < 0 {
		return []schema.Member{schema.Summary("job", d["job"]), schema.Summary("collection", d["collection"])}
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
