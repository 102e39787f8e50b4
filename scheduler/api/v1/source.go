package v1

import (
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/source"
)

// Source is a source of events as users see it: without secrets.
type Source struct {
	*source.Source

	Status *source.Status // nil: none is known
	Damage string         // why the stored source cannot be read; "": it can
	Result Result         // of a put
}

// MarshalJSON returns the document, which can be applied again once its secrets are given.
func (v *Source) MarshalJSON() ([]byte, error) {
	text := func(name, text string) document.Member {
		return document.Member{Name: name, Value: document.StringValue(text)}
	}
	members := []document.Member{text("kind", source.Kind), text("name", v.Key.Job), text("collection", v.Key.Collection)}
	if etag := v.ETag(); etag != "" {
		members = append(members, text("etag", etag))
	}
	properties := v.Settings().Members()
	status, err := v.status()
	if err != nil {
		return nil, err
	}
	if len(status.Members()) > 0 {
		properties = append(properties, document.Member{Name: "status", Value: status})
	}
	members = append(members, document.Member{Name: "properties", Value: document.ObjectValue(properties...)})
	if v.Result != "" {
		members = append(members, text("result", string(v.Result)))
	}
	return document.ObjectValue(members...).JSON(), nil
}

// status returns the status as a document.
func (v *Source) status() (document.Value, error) {
	if v.Damage != "" {
		return document.ObjectValue(document.Member{Name: "damage", Value: document.StringValue(v.Damage)}), nil
	}
	if v.Status == nil {
		return document.ObjectValue(), nil
	}
	return document.Parse(JSON(v.Status))
}
