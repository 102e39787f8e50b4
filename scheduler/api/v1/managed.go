package v1

import (
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Managed converts an answer of the short paths to the form of Azure's resource manager: a resource, or a page of
// resources, of one scope. Ids begin with the path of the scope, and collections have their names within it. Only the
// properties that users wrote keep the mark of a scope.
func Managed(v document.Value, s scheduler.Scope) document.Value {
	page, ok := v.Member("value")
	if !ok {
		return managed(v, s)
	}
	items := make([]document.Value, len(page.Items()))
	for i, item := range page.Items() {
		items[i] = managed(item, s)
	}
	return v.With(document.ArrayValue(items...), "value")
}

// ManagedCollection returns a collection in the form of the resource manager.
func ManagedCollection(c *scheduler.Collection) document.Value {
	return managed(Collection(c), c.Scope)
}

// managed converts one resource.
func managed(v document.Value, s scheduler.Scope) document.Value {
	kind, ok := v.Member("type")
	if !ok {
		return plain(v, s)
	}
	members := make([]document.Member, 0, len(v.Members()))
	for _, m := range v.Members() {
		switch {
		case m.Name == "id":
			m.Value = managedID(m.Value.Text(), s)
		case m.Name != "properties":
			m.Value = plain(m.Value, s)
		case kind.Text() == jobType:
			if status, ok := m.Value.Member("status"); ok {
				m.Value = m.Value.With(plain(status, s), "status")
			}
			m.Value = withInstant(m.Value)
		case kind.Text() == CollectionType:
			if state, ok := m.Value.Member("state"); ok {
				m.Value = m.Value.With(document.StringValue(capitalized(state.Text())), "state")
			}
		default:
			m.Value = plain(m.Value, s)
		}
		members = append(members, m)
	}
	return document.ObjectValue(members...)
}

// withInstant replaces a startTime in a short form, such as 2012-11-04, by its instant. Some clients of the resource
// manager parse no other form, and fail on a whole page.
func withInstant(properties document.Value) document.Value {
	v, _ := properties.Member("startTime")
	if _, err := time.Parse(time.RFC3339, v.Text()); err == nil {
		return properties
	}
	at, err := document.ParseTime(v.Text())
	if err != nil {
		return properties
	}
	return properties.With(document.StringValue(at.Format(time.RFC3339Nano)), "startTime")
}

// managedID returns an id of the short paths with the scope's path before it.
func managedID(id string, s scheduler.Scope) document.Value {
	if strings.HasPrefix(id, collectionID("")) {
		id = s.Provider() + plainText(id, s)
	}
	return document.StringValue(id)
}

// plain removes the mark of a scope from all texts of a value.
func plain(v document.Value, s scheduler.Scope) document.Value {
	if s.IsDefault() {
		return v
	}
	switch v.Kind() { //nolint:exhaustive // the others have no text
	case document.KindString:
		return document.StringValue(plainText(v.Text(), s))
	case document.KindArray:
		items := make([]document.Value, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = plain(item, s)
		}
		return document.ArrayValue(items...)
	case document.KindObject:
		members := make([]document.Member, len(v.Members()))
		for i, m := range v.Members() {
			members[i] = document.Member{Name: m.Name, Value: plain(m.Value, s)}
		}
		return document.ObjectValue(members...)
	}
	return v
}

func plainText(text string, s scheduler.Scope) string {
	if s.IsDefault() {
		return text
	}
	return strings.ReplaceAll(text, s.Mark(), "")
}

// capitalized returns a state in the spelling of the resource manager, such as Enabled.
func capitalized(state string) string {
	if state == "" {
		return state
	}
	return strings.ToUpper(state[:1]) + state[1:]
}

// Plain returns the error without the mark of a scope.
func (e Error) Plain(s scheduler.Scope) Error {
	e.Message = plainText(e.Message, s)
	details := make(document.Problems, len(e.Details))
	for i, p := range e.Details {
		details[i] = document.Problem{Path: p.Path, Message: plainText(p.Message, s)}
	}
	if len(details) > 0 {
		e.Details = details
	}
	return e
}
