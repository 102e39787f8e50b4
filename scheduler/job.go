package scheduler

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Job is a stored job: its definition, compiled, and what the scheduler knows
// about it. It is immutable once loaded.
type Job struct {
	Key      Key
	Revision uint64 // of the stored definition; it grows with every write

	UID          string    // tells this job from an earlier one of the same name
	Generation   int       // counts the edits, from 1
	ScheduleGen  int       // counts the edits that changed the schedule, from 1
	Created      time.Time // when the job was first put
	Updated      time.Time // when it was last edited
	Anchor       time.Time // when its schedule was last changed; stands in for a missing startTime
	SpecSequence uint64    // stream sequence of the spec that wrote it, 0 if none did
	State        State
	Progress     Progress // of a job without a baton (disabled or final), as of the last write

	Def  *Definition
	Plan *spec.Plan
}

// storedMeta is what is stored of a job beside its properties.
type storedMeta struct {
	UID          string    `json:"uid"`
	Generation   int       `json:"generation"`
	ScheduleGen  int       `json:"scheduleGeneration"`
	Created      time.Time `json:"created"`
	Updated      time.Time `json:"updated"`
	Anchor       time.Time `json:"anchor"`
	SpecSequence uint64    `json:"specSequence,omitempty"`
	State        State     `json:"state"`
	Progress     Progress  `json:"progress,omitzero"`
}

// storedJob is a job as it lies in the store. The properties are a document of
// their own: they are canonical JSON already, and read by ReadDefinition.
type storedJob struct {
	Properties document.Value
	Meta       storedMeta
	Sealed     bool // secrets are in the properties
}

// Encode returns the job as it is stored: one object with the members of
// storedMeta and, last, properties, whose secrets are sealed.
func (j *Job) Encode(secrets *Vault) ([]byte, error) {
	properties, err := secrets.seal(j.Key, j.Def)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(storedMeta{
		j.UID, j.Generation, j.ScheduleGen, j.Created, j.Updated, j.Anchor, j.SpecSequence, j.State, j.Progress,
	})
	if err != nil {
		return nil, err
	}
	data = append(data[:len(data)-1], propertiesMember...)
	return append(properties.AppendJSON(data), '}'), nil
}

// propertiesMember begins the last member of a stored job. Nothing before it
// holds text of a user, so its first occurrence is the one.
const propertiesMember = `,"properties":`

// splitStored cuts a stored job into what precedes the properties, closed
// again, and the properties.
func splitStored(data []byte) (meta, properties []byte, err error) {
	before, after, ok := bytes.Cut(data, []byte(propertiesMember))
	if !ok || len(after) == 0 {
		return nil, nil, errors.New("properties: missing")
	}
	return slices.Concat(before, []byte("}")), after[:len(after)-1], nil
}

// decodeMeta reads what precedes the properties of a stored job.
func decodeMeta(data []byte) (m storedMeta, err error) {
	meta, _, err := splitStored(data)
	if err != nil {
		return m, err
	}
	err = json.Unmarshal(meta, &m)
	return m, err
}

// decodeStored splits a stored job without validating its properties. Their
// secrets are opened as far as there are keys.
func decodeStored(k Key, data []byte, secrets *Vault) (s storedJob, err error) {
	if s.Meta, err = decodeMeta(data); err != nil {
		return s, err
	}
	_, properties, err := splitStored(data)
	if err != nil {
		return s, err
	}
	s.Properties, err = document.Parse(properties)
	if s.Sealed = document.MayHoldSealed(properties); s.Sealed {
		s.Properties = secrets.unseal(k, s.Properties)
	}
	return s, err
}

// DecodeJob reads and compiles a stored job. A secret whose key is not known
// stays locked: it is stored again as it was, and attempts that need it fail.
func DecodeJob(k Key, revision uint64, data []byte, actions ActionReader, secrets *Vault) (*Job, error) {
	s, err := decodeStored(k, data, secrets)
	if err != nil {
		return nil, fmt.Errorf("stored job %s: %w", k, err)
	}
	def, err := ReadDefinition(s.Properties, Limits{stored: true}, actions)
	if err != nil {
		return nil, fmt.Errorf("stored job %s: %w", k, err)
	}
	def.secrets = def.secrets || s.Sealed
	m := s.Meta
	j := &Job{
		Key: k, Revision: revision, UID: m.UID, Generation: m.Generation, ScheduleGen: m.ScheduleGen,
		Created: m.Created, Updated: m.Updated, Anchor: m.Anchor, SpecSequence: m.SpecSequence,
		State: m.State, Progress: m.Progress, Def: def,
	}
	if err := j.compile(); err != nil {
		return nil, fmt.Errorf("stored job %s: %w", k, err)
	}
	return j, nil
}

// storedSpecSequence returns the SpecSequence of a stored job without reading
// the rest of it, 0 when it cannot be read.
func storedSpecSequence(data []byte) uint64 {
	s, err := decodeMeta(data)
	if err != nil {
		return 0
	}
	return s.SpecSequence
}

// sameDefinition reports whether two revisions of a job hold the same
// definition: writes that are no edits leave the generation as it is.
func (j *Job) sameDefinition(m storedMeta) bool {
	return j.UID == m.UID && j.Generation == m.Generation
}

// storedState returns the state of a stored job without reading the rest of
// it, enabled when it cannot be read.
func storedState(data []byte) State {
	s, err := decodeMeta(data)
	if err != nil {
		return Enabled
	}
	return s.State
}

// compile builds the plan from the definition. What is wrong is the
// definition's fault: the error matches [ErrInvalid] and holds the paths.
func (j *Job) compile() error {
	timing := j.Def.Timing
	timing.Name, timing.Seed = j.Key.Job, j.UID
	plan, err := spec.NewPlan(timing, j.Anchor)
	if err != nil {
		return AsInvalid(err)
	}
	j.Plan = plan
	return nil
}
