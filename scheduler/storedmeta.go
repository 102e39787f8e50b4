package scheduler

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/internal/plainjson"
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

// storedForm is the form of a stored job, without its version and checksum.
const storedForm = "1--------"

// encode returns the stored job up to its properties: the field form without a checksum, and the fields of m. Every put
// and every end of a job encodes it, so it does so without reflection. size is the capacity of the result.
func (m *storedMeta) encode(size int) ([]byte, error) {
	c, form := plainjson.NewWriter(size), storedForm
	c.Text("form", &form)
	m.code(&c)
	data, err := c.Bytes()
	if err != nil {
		return nil, err
	}
	return data[:len(data)-1], nil // the properties follow
}

// code lists the fields, in the order of the struct.
func (m *storedMeta) code(c *plainjson.Codec) {
	c.Text("uid", &m.UID)
	c.Int("generation", &m.Generation)
	c.Int("scheduleGeneration", &m.ScheduleGen)
	c.OptInt("begunGeneration", &m.BegunGen)
	c.Time("created", &m.Created)
	c.Time("updated", &m.Updated)
	c.Time("anchor", &m.Anchor)
	c.OptUint("specSequence", &m.SpecSequence)
	c.OptWord("state", (*string)(&m.State), storedStates...)
	c.OptTime("pausedUntil", &m.PausedUntil)
	if c.Begin("origin", m.Origin.Op != "") {
		m.Origin.code(c)
		c.End()
	}
	if !c.Reads() && len(m.Canceled) > 0 {
		c.Rare("canceled", m.Canceled)
	}
	if progress, there := c.OptBegin("progress"); there {
		m.Progress.codeProgress(c)
		c.OptEnd(progress)
	}
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
	c, form := plainjson.NewReader(head), ""
	c.Text("form", &form)
	m.code(&c)
	if !c.Ended() { // the fields of another version, or damaged
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
	case !slices.Contains(storedStates, string(m.State)):
		return fmt.Errorf("state: %q is none", m.State)
	}
	return nil
}

// storedStates are the states that are stored.
var storedStates = []string{string(Enabled), string(Disabled), string(Completed), string(Faulted)}

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

func (o *Origin) code(c *plainjson.Codec) {
	c.Text("op", &o.Op)
	c.OptText("name", &o.Name)
	c.OptText("id", &o.ID)
	c.OptText("via", &o.Via)
	c.OptText("address", &o.Address)
	c.OptText("claim", &o.Claim)
	c.OptText("trace", &o.Trace)
	c.OptUint("replaces", &o.Replaces)
}
