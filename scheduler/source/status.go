package source

import (
	"cmp"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Status describes the receivers of a source in one process, or in all. The counts of a process begin and end with it.
type Status struct {
	Running   bool      `json:"running"`                // a receiver runs, or starts again after an error
	Received  uint64    `json:"received"`               // stored events
	Refused   uint64    `json:"refused,omitempty"`      // messages that could not be events
	Lag       *int64    `json:"lag,omitempty"`          // messages that wait at the broker; nil: unknown
	LastEvent time.Time `json:"lastEventTime,omitzero"` // zero: none
	LastError string    `json:"lastError,omitempty"`    // may be older than LastEvent; "": none
	ErrorTime time.Time `json:"lastErrorTime,omitzero"`
}

// Merge returns the status of a source in both groups of processes. The process with the latest event determines the lag,
// because a receiver of a stream learns of it with each message.
func (s Status) Merge(other Status) Status {
	if other.LastEvent.After(s.LastEvent) {
		s, other = other, s
	}
	s.Running = s.Running || other.Running
	s.Received += other.Received
	s.Refused += other.Refused
	s.Lag = cmp.Or(s.Lag, other.Lag)
	if other.ErrorTime.After(s.ErrorTime) {
		s.LastError, s.ErrorTime = other.LastError, other.ErrorTime
	}
	return s
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
