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
	plainjson.Rare(c, "canceled", &m.Canceled, len(m.Canceled) > 0)
	if progress, there := c.OptBegin("progress"); there {
		m.Progress.codeProgress(c)
		c.OptEnd(progress)
	}
}

// decodeMeta decodes the part before the properties of a stored job.
func decodeMeta(data []byte) (m storedMeta, err error) {
	head, _, err := SplitStored(data)
	if err == nil {
		err = m.decode(head, "")
	}
	return m, err
}

// decode decodes the part before the properties of a stored job. Its strings share the memory of text, which begins with
// it; "": they are copies.
func (m *storedMeta) decode(head []byte, text string) error {
	c, form := plainjson.NewReader(head), ""
	c.Share(text)
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

// MovedJob converts a stored job for another store. It clears specSequence, a position in the spec stream of the old
// store: the new store would treat its own specs as older. Damaged jobs are returned unchanged.
func MovedJob(data []byte) []byte {
	return remade(data, func(m *storedMeta) bool {
		changed := m.SpecSequence != 0
		m.SpecSequence = 0
		return changed
	})
}

// MovedJobDisabled is [MovedJob] for a job that arrives disabled. p is the progress of the job's baton, nil for none.
// An ended job stays ended.
func MovedJobDisabled(data []byte, p *Progress) []byte {
	return remade(data, func(m *storedMeta) bool {
		changed := m.SpecSequence != 0
		m.SpecSequence = 0
		if m.State.Final() {
			return changed
		}
		if p != nil {
			next := *p
			next.keep(&m.Progress)
			m.Progress = next
			changed = true
		}
		changed = changed || m.State != Disabled
		m.State = Disabled
		return changed
	})
}

// remade changes the metadata of a stored job; change reports whether it made a change. A damaged job, or a job of
// another form, is returned unchanged.
func remade(data []byte, change func(*storedMeta) bool) []byte {
	if checkForm(data) != nil {
		return data
	}
	head, properties, err := SplitStored(data)
	if err != nil {
		return data
	}
	var m storedMeta
	if m.decode(head, "") != nil || !change(&m) {
		return data
	}
	next, err := m.encode(len(data) + usualSize)
	if err != nil {
		return data
	}
	return signed(append(append(append(next, propertiesMember...), properties...), '}'))
}

// Moved returns b for another store, in which its definition gets a revision of at least atLeast, above all earlier
// revisions. running: a worker had the baton, so its attempt may have run, and the next worker searches the history
// first.
func (b Baton) Moved(atLeast uint64, running bool) Baton {
	b.Revision, b.Edit = atLeast, 0
	b.Suspect = b.Suspect || running
	b.Cause = b.Cause.Moved()
	return b
}

// Timing of moved batons.
const (
	// movedGrace is the minimum delay: the baton's definition is stored a few milliseconds after it.
	movedGrace = 2 * time.Second

	// movedLead is the earliest firing before the due time. The schedule's interval is not considered.
	movedLead = lead + widest
)

// ArmMoved returns when JetStream fires the baton b of job k, which is moved into the store at now, one of others in
// total. Overdue batons are spread evenly at the rate that workers can process.
func (b *Baton) ArmMoved(k Key, now time.Time, others int) time.Time {
	share := float64(k.Hash()) / (1 << 32)
	at := b.Wake().Add(-lead - time.Duration(share*float64(movedLead-lead)))
	if first := now.Add(movedGrace); at.Before(first) {
		return first.Add(time.Duration(share * float64(others) / herdRate * float64(time.Second)))
	}
	if last := now.Add(horizon); at.After(last) {
		return last
	}
	return at
}

// StoredEditCount returns the full uid and the number of edits of a stored job, which identify a state of its
// definition; ok is false if they cannot be decoded.
func StoredEditCount(data []byte) (uid string, generation int, ok bool) {
	m, err := decodeMeta(data)
	return m.UID, m.Generation, err == nil
}

// Counted reports whether p includes the counters of the detached run b, which has then ended.
func (p *Progress) Counted(b Baton) bool { return slices.Contains(p.Merged, instantID(b.Nominal)) }

// StoredEnd returns approximately when a stored job ended: its last run, skip or schedule change. Other edits do not
// count.
func StoredEnd(data []byte) time.Time {
	m, _ := decodeMeta(data)
	return Later(Later(m.Progress.Last, m.Progress.Seen), m.Anchor)
}
