package source

import (
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Status is how a source does, as its receivers report it.
type Status struct {
	Lag       *int64    `json:"lag,omitempty"`          // messages that wait; nil: unknown
	LastEvent time.Time `json:"lastEventTime,omitzero"` // zero: none, or unknown
	LastError string    `json:"lastError,omitempty"`    // "": none since the last event
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
