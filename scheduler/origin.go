package scheduler

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Origin is where the last edit of a job came from. It is stored with the job, so that the audit record of an edit can be
// written again when the process that made the edit was killed before it had.
type Origin struct {
	Op       string `json:"op"`                 // what was asked for: put, patch, enable, disable or pause
	Name     string `json:"name,omitempty"`     // who asked, as far as that is certain; "" when it is not known
	ID       string `json:"id,omitempty"`       // what tells them from others of the name
	Via      string `json:"via,omitempty"`      // how that was found out: "token", "nats"
	Address  string `json:"address,omitempty"`  // where the request came from
	Claim    string `json:"claim,omitempty"`    // who they said that they are, which nobody has checked
	Trace    string `json:"trace,omitempty"`    // traceparent of the request; "": it was not traced
	Replaces uint64 `json:"replaces,omitempty"` // the revision before; 0: there was none
}

// LastEdit is the last edit of a stored job.
type LastEdit struct {
	Origin

	UID          string // of the job
	Generation   int    // of the edit: it counts them
	State        State
	At           time.Time
	SpecSequence uint64 // of the spec that asked for it; 0: none did
}

// StoredEdit returns the last edit of a stored job without reading the rest of it; false when what is stored does not
// tell, as it is damaged.
func StoredEdit(data []byte) (LastEdit, bool) {
	m, err := decodeMeta(data)
	if err != nil || m.Origin.Op == "" {
		return LastEdit{}, false
	}
	return LastEdit{
		Origin: m.Origin, UID: m.UID, Generation: m.Generation, State: m.State, At: m.Updated, SpecSequence: m.SpecSequence,
	}, true
}

// appendOrigin appends the member of an object that is begun.
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

// origin reads what appendOrigin has written, behind the name of its first member.
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
