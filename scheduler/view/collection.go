package view

import (
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// PutCollection returns a collection that was put, and what that made of it.
func PutCollection(c *scheduler.Collection, r Result) document.Value {
	members := Collection(c).Members()
	return document.ObjectValue(append(members, document.Member{Name: "result", Value: document.StringValue(string(r))})...)
}

// Collection returns a collection as users see it.
func Collection(c *scheduler.Collection) document.Value {
	text := func(name, text string) document.Member {
		return document.Member{Name: name, Value: document.StringValue(text)}
	}
	properties, top := c.Settings()
	members := []document.Member{text("id", ownID(c)), text("type", CollectionType), text("name", c.Name)}
	members = append(members, top.Members()...)
	all := append(append([]document.Member{}, properties.Members()...), text("state", string(c.State)))
	return document.ObjectValue(append(members, document.Member{Name: "properties", Value: document.ObjectValue(all...)})...)
}

// ownID is a collection's id; outside of the default scope, with the scope's path before it.
func ownID(c *scheduler.Collection) string {
	if c.Scope.IsDefault() {
		return collectionID(c.Name)
	}
	return c.Scope.Provider() + collectionID(scheduler.PlainName(c.Name))
}
