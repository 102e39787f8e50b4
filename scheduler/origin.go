package scheduler

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Origin is the source of the last edit of a job. It is stored with the job, so that the audit record of an edit can be
// restored if the process was killed before it wrote the record.
type Origin struct {
	Op       string `json:"op"`                 // operation: put, patch, enable, disable or pause
	Name     string `json:"name,omitempty"`     // authenticated user; "" if unknown
	ID       string `json:"id,omitempty"`       // distinguishes users of the same name
	Via      string `json:"via,omitempty"`      // how the user was authenticated: "token", "nats"
	Address  string `json:"address,omitempty"`  // source address of the request
	Claim    string `json:"claim,omitempty"`    // unverified name that the client claims
	Trace    string `json:"trace,omitempty"`    // traceparent of the request; "": not traced
	Replaces uint64 `json:"replaces,omitempty"` // previous revision; 0: none
}

// LastEdit is the last edit of a stored job.
type LastEdit struct {
	Origin

	UID          string
	Generation   int // number of the edit
	State        State
	At           time.Time
	SpecSequence uint64 // of the spec that requested it; 0: none
}

// StoredEdit returns the last edit of a stored job without decoding the rest; false if the job is damaged or has no
// origin.
func StoredEdit(data []byte) (LastEdit, bool) {
	m, err := decodeMeta(data)
	if err != nil || m.Origin.Op == "" {
		return LastEdit{}, false
	}
	return LastEdit{
		Origin: m.Origin, UID: m.UID, Generation: m.Generation, State: m.State, At: m.Updated, SpecSequence: m.SpecSequence,
	}, true
}

// appendOrigin appends the origin field to an open object.
func appendOrigin(b []byte, o *Origin) []byte {
	b = document.StringValue(o.Op).AppendJSON(append(b, `,"origin":{"op":`...))
	for _, at := range []struct{ member, text string }{
		{`,"name":`, o.Name},
		{`,"id":`, o.ID},
		{`,"via":`, o.Via},
		{`,"address":`, o.Address},
		{`,"claim":`, o.Claim},
		{`,"trace":`, o.Trace},
	} {
		if at.text != "" {
			b = document.StringValue(at.text).AppendJSON(append(b, at.member...))
		}
	}
	if o.Replaces != 0 {
		b = appendCount(b, `,"replaces":`, o.Replaces)
	}
	return append(b, '}')
}

// origin is the inverse of appendOrigin. It starts after the name of the first field.
func (r *metaReader) origin() (o Origin) {
	o.Op = string(r.plain())
	for _, at := range []struct {
		member string
		text   *string
	}{
		{`,"name":"`, &o.Name},
		{`,"id":"`, &o.ID},
		{`,"via":"`, &o.Via},
		{`,"address":"`, &o.Address},
		{`,"claim":"`, &o.Claim},
		{`,"trace":"`, &o.Trace},
	} {
		if r.skip(at.member) {
			*at.text = string(r.plain())
		}
	}
	if r.skip(`,"replaces":`) {
		o.Replaces = r.number(64)
	}
	r.need(`}`)
	return o
}
