package scheduler

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// RecordVersion is the version of [RecordForm]: of what is stored, and of what the
// APIs show, whatever was stored. It changes when a member changes its meaning or
// goes, and not when one is added.
const RecordVersion = 2

// storedRecord is a record as it lies in the store, and as everybody gets it who
// subscribes to the history. A field that is added to [Record] is added to
// [RecordForm] if users are to see it, else to [storedEngine].
type storedRecord struct {
	Version int `json:"version"`

	RecordForm //nolint:embeddedstructfieldcheck // the version is the first member

	// ResponseLength is read only: an earlier version wrote it instead of the
	// response when the message ends with it, how many bytes of it that is.
	ResponseLength int `json:"responseLength,omitempty"`

	Engine storedEngine `json:"engine,omitzero"`
}

// storedEngine is what only the scheduler reads: with it the audit and a
// redelivery take up a sequence where the history left it.
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
	Progress    Progress      `json:"progress,omitzero"` // its number is the record's repeatCount
}

// Encode returns the record as it is stored.
func (r *Record) Encode() ([]byte, error) {
	stored := r.stored()
	return stored.encode()
}

// stored is the record in the form in which it is stored.
func (r *Record) stored() storedRecord {
	s := storedRecord{Version: RecordVersion, RecordForm: r.Form(), Engine: storedEngine{
		r.Try, r.Kind.IsDetached(), r.ErrorAction, r.Resubmits, r.Failed, r.Trace, r.Revision, r.Schedule, r.Defaults, r.Resume, r.Progress,
	}}
	s.Engine.Progress.Number = 0
	return s
}

// versionMember begins every stored record but those of the first version.
var versionMember = []byte(`{"version":`)

// DecodeRecord reads a stored record, of this version or the first.
func DecodeRecord(data []byte) (*Record, error) {
	if !bytes.HasPrefix(data, versionMember) {
		return decodeFirstRecord(data)
	}
	var stored storedRecord
	if stored.read(data) && stored.Version == RecordVersion {
		return stored.whole(), nil
	}
	return decodeForeignRecord(data)
}

// decodeForeignRecord reads a record that is not as this version writes it: it has
// members that another one knows, or it is damaged.
func decodeForeignRecord(data []byte) (*Record, error) {
	var stored storedRecord
	if err := json.Unmarshal(data, &stored); err != nil {
		return nil, err
	}
	if stored.Version != RecordVersion {
		return nil, fmt.Errorf("version %d is not known: a later version of Carillon wrote it", stored.Version)
	}
	return stored.whole(), nil
}

// whole is the record with what only the scheduler reads.
func (s *storedRecord) whole() *Record {
	r, engine := s.record(), &s.Engine
	r.Kind = kindFlags{s.Manual, engine.Detached}.kind()
	r.Try, r.ErrorAction, r.Failed, r.Revision, r.Schedule = engine.Try, engine.ErrorAction, engine.Failed, engine.Revision, engine.Schedule
	r.Resubmits, r.Trace, r.Defaults, r.Resume, r.Progress = engine.Resubmits, engine.Trace, engine.Defaults, engine.Resume, engine.Progress
	r.Progress.Number = s.Repeat
	if s.ResponseLength > 0 {
		r.takeResponse(s.ResponseLength)
	}
	return r
}

// takeResponse takes the last n bytes of the message for the response.
func (r *Record) takeResponse(n int) {
	if n > 0 && n <= len(r.Message) {
		r.Response = r.Message[len(r.Message)-n:]
	}
}

// firstRecord is a record as the first version stored it.
type firstRecord struct {
	kindFlags

	ID         string        `json:"id"`
	Occurrence string        `json:"occurrence"`
	Outcome    Outcome       `json:"outcome"`
	Nominal    time.Time     `json:"nominal"`
	Due        time.Time     `json:"due"`
	Started    time.Time     `json:"started"`
	Ended      time.Time     `json:"ended"`
	Attempt    int           `json:"attempt"`
	Try        int           `json:"try"`
	Phase      Phase         `json:"phase"`
	Status     int           `json:"status"`
	Message    string        `json:"message"`
	Response   string        `json:"response"`
	Tail       int           `json:"tail"`     // the last Tail bytes of Message are the response
	Duration   time.Duration `json:"duration"` // nanoseconds
	Final      bool          `json:"final"`
	RetryAfter time.Duration `json:"retryAfter"` // nanoseconds
	Type       string        `json:"type"`
	Target     string        `json:"target"`
	Failed     *Failure      `json:"failed"`
	Reason     Reason        `json:"reason"`
	From       time.Time     `json:"from"`
	To         time.Time     `json:"to"`
	Count      int           `json:"count"`
	UID        string        `json:"uid"`
	Revision   uint64        `json:"rev"`
	Schedule   int           `json:"sched"`
	Resume     time.Time     `json:"resume"`
	Progress   Progress      `json:"progress"`
}

func decodeFirstRecord(data []byte) (*Record, error) {
	var f firstRecord
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	r := &Record{
		ID: f.ID, Occurrence: f.Occurrence, Outcome: f.Outcome, Nominal: f.Nominal, Due: f.Due, Started: f.Started, Ended: f.Ended,
		Attempt: f.Attempt, Try: f.Try, Phase: f.Phase, Kind: f.kind(), Status: f.Status, Message: f.Message, Response: f.Response,
		Duration: f.Duration, Final: f.Final, RetryAfter: f.RetryAfter, Type: f.Type, Target: f.Target, Failed: f.Failed,
		Reason: f.Reason, From: f.From, To: f.To, Count: f.Count, UID: f.UID, Revision: f.Revision, Schedule: f.Schedule,
		Resume: f.Resume, Progress: f.Progress,
	}
	r.takeResponse(f.Tail)
	return r, nil
}
