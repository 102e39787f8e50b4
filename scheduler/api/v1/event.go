package v1

import (
	"encoding/json"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/source"
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

// TestEventRequest is the body of the operation testEvent: an event that is not stored, or the sequence of a stored one.
type TestEventRequest struct {
	Event      string            `json:"event,omitempty"`      // event or collection.event; default: the first of the trigger
	ID         string            `json:"id,omitempty"`         // from the publisher
	Attributes map[string]string `json:"attributes,omitempty"` // its headers, and the attributes of a CloudEvent
	Data       document.Value    `json:"data,omitzero"`        // its body
	Sequence   uint64            `json:"sequence,omitempty"`   // of a stored event, in place of the others
}

// TestedEvent is the effect that an event would have on a job now.
type TestedEvent struct {
	Job       string           `json:"job"`
	Event     string           `json:"event"`              // collection.event
	Sequence  uint64           `json:"sequence,omitempty"` // of the stored event
	Listeners []TestedListener `json:"listeners"`          // all of the trigger, in its order; the first to accept the event decides
	Verdict   string           `json:"verdict"`            // ignores, matches, cancels or refuses
	Key       string           `json:"key,omitempty"`      // distinguishes the events of a trigger
	Waiting   *WaitingEvents   `json:"waiting,omitempty"`  // the run that waits for the key now
	Effect    string           `json:"effect"`             // none, starts, waits, skipped or cancels
	Due       time.Time        `json:"due,omitzero"`       // when the run starts
	Events    int              `json:"events,omitempty"`   // number of events of the run
	Message   string           `json:"message"`            // the effect in words
	Note      string           `json:"note,omitempty"`     // a pause of the job, or a disabled collection
}

// TestedListener is the evaluation of a listener for an event.
type TestedListener struct {
	Listener string `json:"listener"`         // such as source orders
	Selects  bool   `json:"selects"`          // the event has its name
	Filter   string `json:"filter,omitempty"` // the expression
	Accepts  bool   `json:"accepts"`          // it selects the event, and the filter is true
	Fields   string `json:"fields,omitempty"` // the values that the filter reads
	Key      string `json:"key,omitempty"`
	Error    string `json:"error,omitempty"` // an expression that cannot be evaluated
}

// WaitingEvents is the run that waits for a key, or the count of its runs.
type WaitingEvents struct {
	Due    time.Time `json:"due"`    // when the run starts, or the period of the rate limit ends
	Events int       `json:"events"` // number of its events, or runs
	Counts bool      `json:"counts"` // it counts runs for the rate limit
}

// ReplayEventRequest is the body of the operation replayEvent.
type ReplayEventRequest struct {
	Sequence uint64    `json:"sequence"`    // of the stored event
	At       time.Time `json:"at,omitzero"` // of the request: a repeated request with the same time starts one run; default: now
}

// ReplayedEvent is the answer of the operation replayEvent.
type ReplayedEvent struct {
	Sequence   uint64 `json:"sequence"`
	Starts     bool   `json:"starts"`               // the event starts a run
	Occurrence string `json:"occurrence,omitempty"` // id of the run that started
	Key        string `json:"key,omitempty"`        // the value of the expression key
	Message    string `json:"message,omitempty"`    // why no run starts
}

// Source is a source of events as users see it: without secrets.
type Source struct {
	*source.Source

	Status *source.Status // nil: none is known
	Damage string         // why the stored source cannot be read; "": it can
	Result Result         // of a put
}

// MarshalJSON returns the document, which can be applied again once its secrets are given.
func (v *Source) MarshalJSON() ([]byte, error) {
	properties := v.Settings()
	if v.Status != nil || v.Damage != "" {
		status, err := document.Parse(JSON(struct {
			*source.Status

			Damage string `json:"damage,omitempty"`
		}{v.Status, v.Damage}))
		if err != nil {
			return nil, err
		}
		properties = properties.With(status, "status")
	}
	return JSON(struct {
		Kind       string         `json:"kind"`
		Name       string         `json:"name"`
		Collection string         `json:"collection"`
		ETag       string         `json:"etag,omitempty"`
		Properties document.Value `json:"properties"`
		Result     Result         `json:"result,omitempty"`
	}{source.Kind, v.Key.Job, v.Key.Collection, v.ETag(), properties, v.Result}), nil
}

// Graph has the events and jobs that start jobs.
type Graph struct {
	Jobs  []GraphJob  `json:"jobs"`  // by name
	Edges []GraphEdge `json:"edges"` // by source and job
}

// GraphJob is a job that starts others, or that events or other jobs start.
type GraphJob struct {
	Name  string `json:"name"`            // collection/job
	State string `json:"state,omitempty"` // missing for a job that does not exist; absent if you may not see it
}

// GraphEdge says that the end of a job, or an event, starts a job, or that a job runs only after the end of another one.
type GraphEdge struct {
	Event    string              `json:"event,omitempty"`    // collection.event
	Job      string              `json:"job,omitempty"`      // instead of it: the job that ends
	Outcomes []scheduler.Outcome `json:"outcomes,omitempty"` // of that job: any of these
	Starts   string              `json:"starts"`             // the job that starts

	Condition bool `json:"condition,omitempty"` // the end of the job starts nothing: onlyIf of the other job names it
}

// Source returns the event or job that starts the job.
func (e *GraphEdge) Source() string { return e.Event + e.Job }
