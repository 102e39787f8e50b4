package scheduler

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/expression"
)

// Event is a message that can start jobs: one that was published on a topic, or the end of an occurrence of another
// job.
type Event struct {
	Topic      Topic             `json:"topic,omitzero"` // zero for the end of an occurrence
	Sequence   uint64            `json:"sequence"`       // position in the stream of events, or in the history
	ID         string            `json:"id,omitempty"`   // from the publisher: an event is stored once per ID within two minutes
	Time       time.Time         `json:"time"`           // of storage
	Attributes map[string]string `json:"attributes,omitempty"`
	Data       json.RawMessage   `json:"data,omitempty"`     // a JSON value; nil: no body
	Upstream   *Upstream         `json:"upstream,omitempty"` // the occurrence that ended; nil for a published event
}

// MaxEventSize is the maximum length in bytes of an event's body and headers. A waiting run carries its event.
const MaxEventSize = 64 << 10

// Topic names the events that are published together: by a collection, and a name in it.
type Topic struct {
	Collection string
	Name       string
}

// String returns <collection>.<name>, the rest of the topic's subject.
func (t Topic) String() string {
	if t == (Topic{}) {
		return ""
	}
	return t.Collection + "." + t.Name
}

// MessageID returns the Nats-Msg-Id of an event. Different topics may have events of one ID, and the stream recognizes
// duplicates by this header, whatever the subject. [NewEvent] restores the ID.
func (t Topic) MessageID(id string) string { return t.String() + "/" + id }

// MarshalText returns the topic as text.
func (t Topic) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText parses a topic.
func (t *Topic) UnmarshalText(text []byte) error {
	t.Collection, t.Name, _ = strings.Cut(string(text), ".")
	return nil
}

// Validate checks both names.
func (t Topic) Validate() error {
	if err := ValidateCollection(t.Collection); err != nil {
		return err
	}
	return ValidateName("event", t.Name)
}

// Upstream is the end of an occurrence that started a run of another job.
type Upstream struct {
	Job        Key     `json:"-"`
	Name       string  `json:"job"` // collection/job
	Occurrence string  `json:"occurrence"`
	Outcome    Outcome `json:"outcome"` // completed or faulted; failed for an attempt that is retried
	Status     int     `json:"statusCode,omitempty"`
	Message    string  `json:"message,omitempty"`
	Response   string  `json:"response,omitempty"` // excerpt of the response
	Depth      int     `json:"depth,omitempty"`    // number of jobs before the occurrence's in the chain

	// Recovered: it is completed, and the job's occurrence that ended before it faulted. Set for [Job.Recalls].
	Recovered bool `json:"recovered,omitempty"`

	Starts []Key `json:"-"` // the jobs that it starts by onSuccess or onFailure
}

// MaxChain is the maximum number of jobs that start each other one after the other. It ends a cycle that an edit of
// several jobs at the same time can create.
const MaxChain = 100

// EventOf returns the event of a history record, false if it does not end an attempt.
func EventOf(r *Record) (Event, bool) {
	if !r.IsEnd() {
		return Event{}, false
	}
	up := &Upstream{
		Job: r.Job, Name: r.Job.String(), Occurrence: r.Occurrence, Outcome: r.Outcome, Status: r.Status,
		Message: CutText(r.Short(), maxFailureMessage), Response: r.Response, Starts: r.Starts,
	}
	if r.Cause != nil {
		up.Depth = r.Cause.Depth
	}
	data, err := json.Marshal(up)
	return Event{Sequence: r.Sequence, ID: r.Occurrence, Time: r.Stored, Data: data, Upstream: up}, err == nil
}

// NewEvent returns the event of a message: a body of any type, and headers. It takes CloudEvents in binary mode (ce-
// headers) and structured mode (content type application/cloudevents+json); other headers become attributes. A body
// that is not JSON becomes a JSON string, in base64 if it is not text. The error matches [ErrInvalid].
func NewEvent(t Topic, header map[string][]string, body []byte) (Event, error) {
	e := Event{Topic: t, Attributes: map[string]string{}}
	size := len(body) + e.readHeader(header)
	if size > MaxEventSize {
		return e, Invalid("", fmt.Sprintf("the event has %d bytes, at most %d are allowed", size, MaxEventSize))
	}
	kind, _, _ := mime.ParseMediaType(e.Attributes["content-type"])
	if kind == "application/cloudevents+json" {
		if err := e.readStructured(body); err != nil {
			return e, err
		}
	} else {
		e.Data = e.encodeBody(body)
	}
	if e.ID = cmp.Or(e.ID, e.Attributes["id"]); len(e.ID) > maxEventID {
		return e, Invalid("", fmt.Sprintf("the ID of the event has %d bytes, at most %d are allowed", len(e.ID), maxEventID))
	}
	return e, nil
}

// starts reports whether the upstream job of e names the job k in onSuccess or onFailure.
func (e *Event) starts(k Key) bool { return e.Upstream != nil && slices.Contains(e.Upstream.Starts, k) }

// Recovered returns e, the completion of an occurrence, with a note that the occurrence before it faulted.
func (e *Event) Recovered() *Event {
	noted, up := *e, *e.Upstream
	up.Recovered = true
	noted.Upstream = &up
	noted.Data, _ = json.Marshal(&up) //nolint:errchkjson // it was encoded before
	return &noted
}

// IsEnd reports whether the record ends an attempt of the main action, or an occurrence.
func (r *Record) IsEnd() bool {
	failed := r.Outcome == OutcomeFailed && r.Phase == MainPhase
	return !r.Damaged && (r.Succeeded() || failed || r.Outcome == OutcomeFaulted)
}

// EndID identifies the end of an occurrence, which may have several records: a record is written again if its
// acknowledgement is lost, and two processes that lost contact may both make an attempt. It returns "" for published
// events, and for failed attempts.
func (e *Event) EndID() string {
	if e.Upstream == nil || e.Upstream.Outcome == OutcomeFailed {
		return ""
	}
	return e.Upstream.Occurrence + " " + string(e.Upstream.Outcome)
}

// EventHeaders returns the headers of a request to publish an event that belong to the event, with one value each. Others,
// such as a token, belong to the request.
func EventHeaders(all map[string][]string) map[string][]string {
	kept := map[string][]string{}
	for name, values := range all {
		switch lower := strings.ToLower(name); {
		case strings.HasPrefix(lower, "ce-"), lower == "content-type":
			kept[lower] = values[:1]
		case lower == "nats-msg-id":
			kept["Nats-Msg-Id"] = values[:1]
		}
	}
	return kept
}

// instant returns the nominal time of the run that e starts: when e was stored, with its sequence in the nanoseconds,
// because clocks may be too coarse to distinguish events.
func (e *Event) instant() time.Time { return e.instantAt(e.Time) }

func (e *Event) instantAt(t time.Time) time.Time {
	return t.UTC().Truncate(time.Microsecond).Add(time.Duration(e.Sequence % 1000))
}

// maxEventID is the maximum length of an ID in bytes. Records repeat it.
const maxEventID = 256

// readHeader reads the first value of each header, and returns their size. A ce- header takes precedence over one
// without the prefix.
func (e *Event) readHeader(header map[string][]string) (size int) {
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if len(header[name]) == 0 {
			continue
		}
		value := header[name][0]
		size += len(name) + len(value)
		lower := strings.ToLower(name)
		attribute, cloud := strings.CutPrefix(lower, "ce-")
		_, taken := e.Attributes[attribute]
		switch {
		case lower == "nats-msg-id":
			e.ID = strings.TrimPrefix(value, e.Topic.MessageID(""))
		case strings.HasPrefix(lower, "nats-"), strings.HasPrefix(lower, "carillon-"):
		case attribute == "content-type" && cloud: // it is not the type of the body
			e.Attributes[lower] = value
		case cloud || !taken:
			e.Attributes[attribute] = value
		}
	}
	return size
}

// encodeBody returns a body as a JSON value.
func (e *Event) encodeBody(body []byte) json.RawMessage {
	switch {
	case len(body) == 0:
		return nil
	case json.Valid(body):
		return body
	case !utf8.Valid(body):
		e.Attributes["datacontentencoding"] = "base64"
		body = []byte(base64.StdEncoding.EncodeToString(body))
	}
	text, _ := json.Marshal(string(body)) //nolint:errchkjson // a string
	return text
}

// readStructured reads a CloudEvent in structured mode (CloudEvents JSON format 1.0.2, section 3).
func (e *Event) readStructured(body []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return Invalid("", "is not a CloudEvent, a JSON object: "+err.Error())
	}
	delete(e.Attributes, "content-type")
	if raw, ok := members["data_base64"]; ok {
		var data []byte
		if err := json.Unmarshal(raw, &data); err != nil {
			return Invalid("data_base64", "is not base64 text")
		}
		e.Data = e.encodeBody(data)
	} else {
		e.Data = members["data"]
	}
	delete(members, "data")
	delete(members, "data_base64")
	for _, name := range []string{"id", "source", "specversion", "type"} {
		if _, ok := members[name]; !ok {
			return Invalid(name, "is missing: a CloudEvent requires it")
		}
	}
	for name, raw := range members {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw) // a number or a boolean
		}
		e.Attributes[name] = text
	}
	return nil
}

// Input returns the event as expressions of j see it.
func (e *Event) Input(j *Job) expression.Input {
	in := expression.Input{Event: expression.Event{
		ID: e.ID, Topic: e.Topic.String(), Collection: e.Topic.Collection, Name: e.Topic.Name,
		Sequence: e.Sequence, Time: e.Time, Attributes: maps.Clone(e.Attributes),
	}}
	in.Event.Data = decoded(e.Data) // valid, or nil
	if j != nil {
		labels := map[string]any{}
		for name, value := range j.Def.Labels {
			labels[name] = value
		}
		in.Job = map[string]any{"name": j.Key.Job, "collection": PlainName(j.Key.Collection), "labels": labels}
		if j.Def.Data.Kind() != document.KindNull {
			in.Job["data"] = decoded(j.Def.Data.JSON())
		}
	}
	return in
}

// decoded returns the value of JSON, with all digits of its numbers.
func decoded(text []byte) (value any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	_ = d.Decode(&value)
	return value
}

// Cause identifies the events that started a run, in its records.
type Cause struct {
	Event    string `json:"event,omitempty"`    // topic of the last event; "" for the end of an occurrence
	Upstream string `json:"upstream,omitempty"` // id of the occurrence that ended; "" for a published event
	ID       string `json:"id,omitempty"`       // of the last event
	Key      string `json:"key,omitempty"`      // what the events are about
	Sequence uint64 `json:"sequence"`           // of the last event
	Count    int    `json:"count"`              // number of events
	Depth    int    `json:"depth,omitempty"`    // number of jobs before this one in the chain
	Replay   bool   `json:"replay,omitempty"`   // a user applied the event again

	// Since is when the first event was stored.
	Since time.Time `json:"since"`

	// Sequences are the sequences of several events, ascending, at most the last maxSequences. The sequence of a record has
	// the highest bit set. They recognize an event that is delivered again.
	Sequences []uint64 `json:"sequences,omitempty"`
}

// maxSequences is the number of sequences in a cause. Events of one key that are delivered again are rarely so many
// events old.
const maxSequences = 1000

// sequenceOf distinguishes the sequences of records from those of published events.
func sequenceOf(sequence uint64, record bool) uint64 {
	if record {
		return sequence | 1<<63
	}
	return sequence
}

func (c *Cause) with(e *Event) *Cause {
	next := *c
	next.add(e)
	return &next
}

func (c *Cause) add(e *Event) {
	if c.Count == 1 {
		c.Sequences = []uint64{sequenceOf(c.Sequence, c.Upstream != "")}
	}
	id := sequenceOf(e.Sequence, e.Upstream != nil)
	at, _ := slices.BinarySearch(c.Sequences, id)
	c.Sequences = slices.Insert(slices.Clone(c.Sequences), at, id)
	c.Sequences = c.Sequences[max(0, len(c.Sequences)-maxSequences):]
	c.Count++
	c.Sequence, c.ID = e.Sequence, e.ID
	if c.Event, c.Upstream = e.Topic.String(), ""; e.Upstream != nil {
		c.Upstream, c.Depth = e.Upstream.Occurrence, max(c.Depth, e.Upstream.Depth+1)
	}
	if e.Time.Before(c.Since) {
		c.Since = e.Time
	}
}

// Moved returns c for another store, whose sequences name other events. A run keeps its events, but cannot be repeated.
func (c *Cause) Moved() *Cause {
	if c == nil {
		return nil
	}
	moved := *c
	moved.Sequence, moved.Sequences = 0, nil
	return &moved
}

// Holds reports whether e is one of the events that c describes. A replay does not count.
func (c *Cause) Holds(e *Event) bool {
	if c == nil || c.Replay {
		return false
	}
	if e.EndID() != "" && c.Upstream == e.Upstream.Occurrence {
		return true // by another record
	}
	id := sequenceOf(e.Sequence, e.Upstream != nil)
	if c.Count == 1 {
		return id == sequenceOf(c.Sequence, c.Upstream != "")
	}
	at, found := slices.BinarySearch(c.Sequences, id)
	return found || at == 0 && len(c.Sequences) == maxSequences && c.Sequences[0]>>63 == id>>63
}

// Each calls f with the sequences of the events: of published ones, or of records. It returns false if they are not all
// known.
func (c *Cause) Each(f func(sequence uint64, record bool) error) (all bool, err error) {
	list := c.Sequences
	if c.Count == 1 && c.Sequence > 0 {
		list = []uint64{sequenceOf(c.Sequence, c.Upstream != "")}
	}
	for _, id := range list {
		if err := f(id&^(1<<63), id>>63 == 1); err != nil {
			return false, err
		}
	}
	return len(list) == c.Count, nil
}

// Label names the event for people: sales.orders, or the id of the occurrence.
func (c *Cause) Label() string { return cmp.Or(c.Upstream, c.Event) }
