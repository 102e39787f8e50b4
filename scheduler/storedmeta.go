package scheduler

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// storedMeta is the part of a stored job next to its properties.
type storedMeta struct {
	UID          string    `json:"uid"`
	Generation   int       `json:"generation"`
	ScheduleGen  int       `json:"scheduleGeneration"`
	BegunGen     int       `json:"begunGeneration,omitempty"`
	Created      time.Time `json:"created"`
	Updated      time.Time `json:"updated"`
	Anchor       time.Time `json:"anchor"`
	SpecSequence uint64    `json:"specSequence,omitempty"`
	State        State     `json:"state"`
	PausedUntil  time.Time `json:"pausedUntil,omitzero"`
	Origin       Origin    `json:"origin,omitzero"`

	Canceled []Cancellation `json:"canceled,omitempty"`

	Progress Progress `json:"progress,omitzero"`
}

// meta returns the stored metadata of j.
func (j *Job) meta() *storedMeta {
	return &storedMeta{
		j.UID, j.Generation, j.ScheduleGen, j.BegunGen, j.Created, j.Updated, j.Anchor, j.SpecSequence,
		j.State, j.PausedUntil, j.Origin, j.Canceled, j.Progress,
	}
}

// appendMeta appends the fields of m to an open object, like encoding/json but without reflection: every put and every
// end of a job encodes it.
func appendMeta(b []byte, m *storedMeta) ([]byte, error) {
	number := func(member string, n uint64) { b = appendCount(b, member, n) }
	b = document.StringValue(m.UID).AppendJSON(append(b, `"uid":`...))
	number(`,"generation":`, uint64(m.Generation))
	number(`,"scheduleGeneration":`, uint64(m.ScheduleGen))
	if m.BegunGen != 0 {
		number(`,"begunGeneration":`, uint64(m.BegunGen))
	}
	for _, at := range []struct {
		member string
		time   time.Time
	}{{`,"created":"`, m.Created}, {`,"updated":"`, m.Updated}, {`,"anchor":"`, m.Anchor}} {
		var err error
		if b, err = at.time.AppendText(append(b, at.member...)); err != nil {
			return nil, err
		}
		b = append(b, '"')
	}
	if m.SpecSequence != 0 {
		number(`,"specSequence":`, m.SpecSequence)
	}
	b = document.StringValue(string(m.State)).AppendJSON(append(b, `,"state":`...))
	if !m.PausedUntil.IsZero() {
		var err error
		if b, err = m.PausedUntil.AppendText(append(b, `,"pausedUntil":"`...)); err != nil {
			return nil, err
		}
		b = append(b, '"')
	}
	if m.Origin.Op != "" {
		b = appendOrigin(b, &m.Origin)
	}
	if len(m.Canceled) > 0 {
		canceled, err := json.Marshal(m.Canceled)
		if err != nil {
			return nil, err
		}
		b = append(append(b, `,"canceled":`...), canceled...)
	}
	if m.Progress.none() {
		return b, nil
	}
	progress, err := json.Marshal(&m.Progress)
	return append(append(b, `,"progress":`...), progress...), err
}

func appendCount(b []byte, member string, n uint64) []byte {
	return strconv.AppendUint(append(b, member...), n, 10)
}

// decodeMeta decodes the part before the properties of a stored job.
func decodeMeta(data []byte) (m storedMeta, err error) {
	head, _, err := SplitStored(data)
	if err == nil {
		err = m.decode(head)
	}
	return m, err
}

func (m *storedMeta) decode(head []byte) error {
	if !m.read(head) {
		*m = storedMeta{}
		if err := json.Unmarshal(slices.Concat(head, []byte("}")), m); err != nil {
			return err
		}
	}
	return m.check()
}

// check rejects values that no version has written.
func (m *storedMeta) check() error {
	switch {
	case m.UID == "":
		return errors.New("uid: missing")
	case m.Generation < 1 || m.ScheduleGen < 1:
		return errors.New("generation: missing")
	case !slices.Contains(storedStates, m.State):
		return fmt.Errorf("state: %q is none", m.State)
	}
	return nil
}

// storedStates are the states that are stored.
var storedStates = []State{Enabled, Disabled, Completed, Faulted}

// read decodes the output of appendMeta, with the same result as encoding/json. It returns false for anything else.
func (m *storedMeta) read(head []byte) bool {
	r := metaReader{rest: head, ok: true}
	r.need(formMark[:formVersionAt])
	r.plain()
	r.need(`,`)
	r.need(`"uid":"`)
	m.UID = string(r.plain())
	r.need(`,"generation":`)
	m.Generation = r.count()
	r.need(`,"scheduleGeneration":`)
	m.ScheduleGen = r.count()
	if r.skip(`,"begunGeneration":`) {
		m.BegunGen = r.count()
	}
	r.need(`,"created":"`)
	m.Created = r.time()
	r.need(`,"updated":"`)
	m.Updated = r.time()
	r.need(`,"anchor":"`)
	m.Anchor = r.time()
	if r.skip(`,"specSequence":`) {
		m.SpecSequence = r.number(64)
	}
	r.need(`,"state":"`)
	state := r.text()
	i := slices.IndexFunc(storedStates, func(s State) bool { return string(s) == string(state) })
	if !r.ok || i < 0 {
		return false
	}
	m.State = storedStates[i]
	if r.skip(`,"pausedUntil":"`) {
		m.PausedUntil = r.time()
	}
	if r.skip(`,"origin":{"op":"`) {
		if m.Origin = r.origin(); !r.ok {
			return false
		}
	}
	if r.skip(`,"progress":`) {
		return json.Unmarshal(r.rest, &m.Progress) == nil
	}
	return len(r.rest) == 0
}

// metaReader reads JSON with fields in a fixed order and strings without escapes. After a mistake, ok is false.
type metaReader struct {
	rest []byte
	ok   bool
}

// skip advances past text if it is next.
func (r *metaReader) skip(text string) bool {
	if len(r.rest) < len(text) || string(r.rest[:len(text)]) != text {
		return false
	}
	r.rest = r.rest[len(text):]
	return true
}

// need advances past text, which must be next.
func (r *metaReader) need(text string) { r.ok = r.ok && r.skip(text) }

// text reads a string up to its closing quote. Its opening quote has been read. The caller rejects backslashes where
// they matter.
func (r *metaReader) text() []byte {
	end := bytes.IndexByte(r.rest, '"')
	if end < 0 {
		r.ok = false
		return nil
	}
	text := r.rest[:end]
	r.rest = r.rest[end+1:]
	return text
}

// plain is text that must be printable ASCII without escapes.
func (r *metaReader) plain() []byte {
	text := r.text()
	for _, c := range text {
		if c < ' ' || c > '~' || c == '\\' {
			r.ok = false
		}
	}
	return text
}

// time reads a string, whose opening quote has been read, as a time.
func (r *metaReader) time() (t time.Time) {
	if text := r.text(); r.ok {
		r.ok = t.UnmarshalText(text) == nil
	}
	return t
}

func (r *metaReader) count() int { return int(r.number(strconv.IntSize - 1)) }

// number reads an unsigned integer of at most so many bits.
func (r *metaReader) number(bits int) uint64 {
	end := 0
	for end < len(r.rest) && '0' <= r.rest[end] && r.rest[end] <= '9' {
		end++
	}
	n, err := strconv.ParseUint(string(r.rest[:end]), 10, bits)
	if err != nil || end > 1 && r.rest[0] == '0' {
		r.ok = false
	}
	r.rest = r.rest[end:]
	return n
}

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
