package scheduler

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/internal/plainjson"
)

// RecordVersion is the version of [RecordForm], in the store and in the APIs. It changes if a field is removed or
// changes its meaning, and not if a field is added. Version 1 was never released.
const RecordVersion = 2

// storedRecord is a record in the store and in messages to history subscribers. A new field of [Record] is added to
// [RecordForm] if users see it, else to [storedEngine]: to the type, to its method code, and to the conversion in both
// directions. The page records.md describes RecordForm.
type storedRecord struct {
	Version int `json:"version"`

	RecordForm //nolint:embeddedstructfieldcheck // the version is the first member

	Engine storedEngine `json:"engine,omitzero"`
}

// storedEngine holds the fields for the scheduler only. The consistency check and a redelivery continue from them.
type storedEngine struct {
	Try         int           `json:"try,omitempty"`
	Detached    bool          `json:"detached,omitempty"`
	ErrorAction int           `json:"errorAction,omitempty"`
	Resubmits   *Resubmission `json:"resubmits,omitempty"`
	Failed      *Failure      `json:"failed,omitempty"`
	Trace       *BatonTrace   `json:"trace,omitempty"`
	Revision    uint64        `json:"revision,omitempty"`
	Schedule    int           `json:"schedule,omitempty"`
	Defaults    uint64        `json:"defaults,omitempty"`
	Resume      time.Time     `json:"resume,omitzero"`
	Starts      []Key         `json:"starts,omitempty"`
	Progress    Progress      `json:"progress,omitzero"` // without its number, which is repeatCount
}

// Encode returns the stored form of the record.
func (r *Record) Encode() ([]byte, error) {
	stored := r.stored()
	return stored.encode()
}

// stored converts the record to its stored form.
func (r *Record) stored() storedRecord {
	s := storedRecord{Version: RecordVersion, RecordForm: r.Form(), Engine: storedEngine{
		r.Try, r.Kind.IsDetached(), r.ErrorAction, r.Resubmits, r.Failed, r.Trace, r.Revision, r.Schedule, r.Defaults, r.Resume, r.Starts,
		r.Progress,
	}}
	s.Engine.Progress.Number = 0
	s.Message = withoutAnswer(s.Message, s.Headers, s.Response)
	return s
}

// answerMark ends a stored message whose rest, the headers and the body of the answer, is only in their own fields.
const answerMark = " Response Headers:"

// withoutAnswer cuts the headers and the body that end a message: answerMark, " HEADERS Body: RESPONSE". A message that
// ends otherwise, for example because a secret in it was redacted differently, stays whole.
func withoutAnswer(message, headers, response string) string {
	cut := strings.TrimSuffix(message, response)
	if headers == "" || !strings.HasSuffix(cut, bodyMark) {
		return message
	}
	cut, ok := strings.CutSuffix(cut[:len(cut)-len(bodyMark)], headers)
	if !ok || !strings.HasSuffix(cut, answerMark+" ") {
		return message
	}
	return cut[:len(cut)-1]
}

const bodyMark = " Body: "

// withAnswer is the inverse of withoutAnswer.
func withAnswer(message, headers, response string) string {
	if headers == "" || !strings.HasSuffix(message, answerMark) {
		return message
	}
	return message + " " + headers + bodyMark + response
}

func (s *storedRecord) encode() ([]byte, error) {
	size := recordSize + len(s.Data) + len(s.Message) + len(s.Summary) + len(s.Headers) + len(s.Response) + 2*len(s.Occurrence)
	if s.Engine.Failed != nil {
		size += len(s.Engine.Failed.Message) + len(s.Engine.Failed.Summary)
	}
	c := plainjson.NewWriter(size)
	s.code(&c)
	return c.Bytes()
}

// recordSize is the approximate size of a stored record in bytes without its texts, plus a reserve for escaped bytes.
const recordSize = 872

// read is the inverse of encode. It returns false if data has another form.
func (s *storedRecord) read(data []byte) bool {
	c := plainjson.NewReader(data)
	s.code(&c)
	return c.Done()
}

func (s *storedRecord) code(c *plainjson.Codec) {
	c.Int("version", &s.Version)
	s.RecordForm.code(c)
	s.Engine.code(c)
}

// code lists the fields of engine, if any are set.
func (e *storedEngine) code(c *plainjson.Codec) {
	at, there := c.OptBegin("engine")
	if !there {
		return
	}
	c.OptInt("try", &e.Try)
	c.OptTrue("detached", &e.Detached)
	c.OptInt("errorAction", &e.ErrorAction)
	codeResubmission(c, &e.Resubmits)
	codeFailure(c, &e.Failed)
	codeTrace(c, &e.Trace)
	c.OptUint("revision", &e.Revision)
	c.OptInt("schedule", &e.Schedule)
	c.OptUint("defaults", &e.Defaults)
	c.OptTime("resume", &e.Resume)
	plainjson.Rare(c, "starts", &e.Starts, len(e.Starts) > 0)
	if progress, there := c.OptBegin("progress"); there {
		e.Progress.codeProgress(c)
		c.OptEnd(progress)
	}
	c.OptEnd(at)
}

// DecodeRecord decodes a stored record.
func DecodeRecord(data []byte) (*Record, error) {
	var stored storedRecord
	if stored.read(data) && stored.Version == RecordVersion {
		return stored.whole(), nil
	}
	return decodeForeignRecord(data)
}

// decodeForeignRecord decodes a record that this version did not write: it has fields of another version, or is
// damaged.
func decodeForeignRecord(data []byte) (*Record, error) {
	var stored storedRecord
	if err := json.Unmarshal(data, &stored); err != nil {
		return nil, err
	}
	if stored.Version != RecordVersion {
		return nil, fmt.Errorf("version %d is not known, only %d: a later version of Carillon may have written it",
			stored.Version, RecordVersion)
	}
	return stored.whole(), nil
}

// whole returns the record including the fields for the scheduler only.
func (s *storedRecord) whole() *Record {
	r, engine := s.record(), &s.Engine
	r.Kind = kindFlags{s.Manual, engine.Detached}.kind(s.Cause)
	r.Try, r.ErrorAction, r.Failed, r.Revision, r.Schedule = engine.Try, engine.ErrorAction, engine.Failed, engine.Revision, engine.Schedule
	r.Resubmits, r.Trace, r.Defaults, r.Resume, r.Progress = engine.Resubmits, engine.Trace, engine.Defaults, engine.Resume, engine.Progress
	r.Starts, r.Progress.Number = engine.Starts, s.Repeat
	r.Message = withAnswer(r.Message, r.Headers, r.Response)
	return r
}
