package v1

import (
	"encoding/json"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Event is a published event.
type Event struct {
	Collection string            `json:"collection"`
	Name       string            `json:"name"`
	Sequence   uint64            `json:"sequence"`             // position among the events of all collections
	ID         string            `json:"id,omitempty"`         // from the publisher
	Time       time.Time         `json:"time"`                 // of storage
	Attributes map[string]string `json:"attributes,omitempty"` // its headers, and the attributes of a CloudEvent
	Data       json.RawMessage   `json:"data,omitempty"`       // its body; a string if that is not JSON, in base64 if it is not text
}

// Subject returns <collection>.<name>, as triggers select the event.
func (e *Event) Subject() string { return e.Collection + "." + e.Name }

// PublishedEvent is the answer of the operation publishEvent.
type PublishedEvent struct {
	Collection string `json:"collection"`
	Name       string `json:"name"`
	Sequence   uint64 `json:"sequence"`  // position among the events of all collections
	Duplicate  bool   `json:"duplicate"` // an event with this ID was stored within two minutes; it has the sequence, and this one is not stored
}

// PublicEvent returns an event as users see it.
func PublicEvent(e *scheduler.Event) *Event {
	return &Event{
		Collection: e.Topic.Collection, Name: e.Topic.Name, Sequence: e.Sequence, ID: e.ID, Time: e.Time,
		Attributes: e.Attributes, Data: e.Data,
	}
}
