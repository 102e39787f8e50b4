package v1

import (
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// PutCollection returns a collection with the result of its put.
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
	if etag := c.ETag(); etag != "" {
		members = append(members, text("etag", etag))
	}
	members = append(members, top.Members()...)
	all := append(append([]document.Member{}, properties.Members()...), text("state", c.ShownState()))
	return document.ObjectValue(append(members, document.Member{Name: "properties", Value: document.ObjectValue(all...)})...)
}

// ownID returns a collection's id, with the scope's path before it outside the default scope.
func ownID(c *scheduler.Collection) string {
	if c.Scope.IsDefault() {
		return collectionID(c.Name)
	}
	return c.Scope.Provider() + collectionID(scheduler.PlainName(c.Name))
}

// CollectionDryRun is the result of a dry run of a put or patch of a collection.
type CollectionDryRun struct {
	Is     *scheduler.Collection // nil: no collection, or a damaged one
	Would  *scheduler.Collection
	Result Result
}

// MarshalJSON returns the resulting collection with the result and {"dryRun": {"changes": […]}}.
func (f *CollectionDryRun) MarshalJSON() ([]byte, error) {
	would := *f.Would
	would.Revision = 0 // nothing is stored
	is := document.ObjectValue()
	if f.Is != nil {
		is = ownOf(f.Is)
	}
	changes := document.Difference("", is, ownOf(&would))
	if changes == nil {
		changes = []document.Change{}
	}
	told, err := document.Parse(JSON(map[string]any{"changes": changes}))
	if err != nil {
		return nil, err
	}
	members := append(PutCollection(&would, f.Result).Members(), document.Member{Name: "dryRun", Value: told})
	return document.ObjectValue(members...).JSON(), nil
}

// ownOf returns the user-written part of a collection.
func ownOf(c *scheduler.Collection) document.Value {
	return Collection(c).Except("id", "type", "name", "etag")
}
