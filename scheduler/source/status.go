package source

import (
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Status describes the receiver of a source in the process that answers. Counts begin with the process.
type Status struct {
	Running   bool      `json:"running"`                // the receiver runs, or starts again after an error
	Received  uint64    `json:"received"`               // stored events
	Refused   uint64    `json:"refused,omitempty"`      // messages that could not be events
	Lag       *int64    `json:"lag,omitempty"`          // messages that wait at the broker; nil: unknown
	LastEvent time.Time `json:"lastEventTime,omitzero"` // zero: none
	LastError string    `json:"lastError,omitempty"`    // may be older than LastEvent; "": none
	ErrorTime time.Time `json:"lastErrorTime,omitzero"`
}

// ETag returns the entity tag of the stored source; "" if it is not stored.
func (s *Source) ETag() string {
	if s.Revision == 0 {
		return ""
	}
	return `"r` + strconv.FormatUint(s.Revision, 10) + `"`
}

// Settings returns the properties with the state. Their encoding omits secrets.
func (s *Source) Settings() document.Value {
	if s.properties.Kind() == document.KindNull {
		return document.ObjectValue(document.Member{Name: "state", Value: document.StringValue(string(s.State))})
	}
	return s.properties.With(document.StringValue(string(s.State)), "state")
}
