package view

import (
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Managed returns an answer of the short paths, to a request about one scope, as
// Azure's resource manager has it: a resource, or a page of them. Ids have the path
// of the scope, collections are called what they are within it, and nothing but the
// properties that users gave themselves is told with the mark of a scope.
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

// ManagedCollection is a collection as the resource manager has it.
func ManagedCollection(c *scheduler.Collection) document.Value {
	return managed(Collection(c), c.Scope)
}

// managed returns one resource.
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

// withInstant returns properties whose startTime, which may have been given in a short form such as 2012-11-04, is the instant
// that it is: some clients of the resource manager read nothing else, and fail on a whole page.
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

// managedID returns the id of the short paths with the scope's path before it.
func managedID(id string, s scheduler.Scope) document.Value {
	if strings.HasPrefix(id, collectionID("")) {
		id = s.Provider() + plainText(id, s)
	}
	return document.StringValue(id)
}

// plain returns a value whose texts are without the mark of a scope.
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

// capitalized is a state as the resource manager has those of collections: Enabled.
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
