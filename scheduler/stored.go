package scheduler

import (
	"bytes"
	"errors"
	"slices"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Sealer seals the secrets of a job's properties for the store and opens them
// again. Package secrets implements it.
type Sealer interface {
	// Seal returns the properties as they are stored. Secrets that could not be
	// opened go back as they came.
	Seal(k Key, properties document.Value) (document.Value, error)

	// Unseal opens the secrets of stored properties as far as there are keys.
	Unseal(k Key, properties document.Value) document.Value
}

// sealed returns the properties as they are stored.
func (d *Definition) sealed(k Key, secrets Sealer) (document.Value, error) {
	if !d.secrets {
		return d.properties, nil
	}
	return secrets.Seal(k, d.properties)
}

// storedJob is a job as it lies in the store. The properties are a document of
// their own: they are canonical JSON already, and read by [Reading.Definition].
type storedJob struct {
	Properties document.Value
	Meta       storedMeta
	Sealed     bool // secrets are in the properties
}

// Encode returns the job as it is stored: one object with the mark of its form,
// the members of storedMeta and, last, properties, whose secrets are sealed.
func (j *Job) Encode(secrets Sealer) ([]byte, error) {
	properties, err := j.Def.sealed(j.Key, secrets)
	if err != nil {
		return nil, err
	}
	data, err := appendMeta(append(make([]byte, 0, usualSize), formMark...), j.meta())
	if err != nil {
		return nil, err
	}
	return signed(append(properties.AppendJSON(append(data, propertiesMember...)), '}')), nil
}

// usualSize is how many bytes most jobs take in the store, or fewer.
const usualSize = 768

// propertiesMember begins the last member of a stored job. Nothing before it
// holds text of a user, so its first occurrence is the one.
const propertiesMember = `,"properties":`

// SplitStored cuts a stored job into what precedes the member properties and
// that member's value.
func SplitStored(data []byte) (head, properties []byte, err error) {
	head, rest, ok := bytes.Cut(data, []byte(propertiesMember))
	if !ok || len(rest) == 0 {
		return nil, nil, errors.New("properties: missing")
	}
	return head, rest[:len(rest)-1], nil
}

// JoinStored is the reverse of [SplitStored].
func JoinStored(head, properties []byte) []byte {
	return slices.Concat(head, []byte(propertiesMember), properties, []byte("}"))
}

// decodeStored splits a stored job without validating its properties. Their
// secrets are opened as far as there are keys.
func decodeStored(k Key, data []byte, secrets Sealer) (s storedJob, err error) {
	head, properties, err := SplitStored(data)
	if err == nil {
		err = s.Meta.decode(head)
	}
	if err != nil {
		return s, err
	}
	s.Properties, err = document.Parse(properties)
	if s.Sealed = document.MayHoldSealed(properties); s.Sealed {
		s.Properties = secrets.Unseal(k, s.Properties)
	}
	return s, err
}

// ReadJob reads a stored job. One whose schedule is a text, which may take long
// to compile, has no plan yet: see [Job.Compiled]. A secret whose key is not
// known stays locked: it is stored again as it was, and attempts that need it
// fail. The error is a [*DamagedError].
func ReadJob(k Key, revision uint64, data []byte, actions ActionReader, secrets Sealer) (*Job, error) {
	if err := checkForm(data); err != nil {
		return nil, damagedJob(k, revision, data, err)
	}
	j, err := readJob(k, revision, data, Reading{Actions: actions, Key: k, stored: true, trusted: true}, secrets)
	if err != nil { // this process may know less than the one that wrote it, and is to say what
		j, err = readJob(k, revision, data, Reading{Actions: actions, Key: k, stored: true}, secrets)
	}
	if err != nil {
		return nil, damagedJob(k, revision, data, err)
	}
	return j, nil
}

func readJob(k Key, revision uint64, data []byte, reading Reading, secrets Sealer) (*Job, error) {
	s, err := decodeStored(k, data, secrets)
	if err != nil {
		return nil, err
	}
	def, err := reading.Definition(s.Properties)
	if err != nil {
		return nil, err
	}
	def.secrets = def.secrets || s.Sealed
	return s.Meta.job(k, revision, len(data), def)
}

// job returns the job that is stored as m and a definition, in so many bytes.
func (m *storedMeta) job(k Key, revision uint64, size int, def *Definition) (*Job, error) {
	j := &Job{
		Key: k, Revision: revision, Size: size, UID: m.UID, Generation: m.Generation, ScheduleGen: m.ScheduleGen, BegunGen: m.BegunGen,
		Created: m.Created, Updated: m.Updated, Anchor: m.Anchor, SpecSequence: m.SpecSequence,
		State: m.State, PausedUntil: m.PausedUntil, Origin: m.Origin, Canceled: m.Canceled, Progress: m.Progress, Def: def,
	}
	if !j.plain() {
		return j, nil
	}
	err := j.compile()
	return j, err
}

// plain reports whether the schedule is no text, so that it is compiled in no time.
func (j *Job) plain() bool {
	recurrence := j.Def.Timing.Recurrence
	return recurrence == nil || recurrence.Rule == nil
}

// Compiled returns a job that [ReadJob] has read, with its plan: j itself when it
// has one. The error is a [*DamagedError]: the schedule is too costly to
// compile.
func (j *Job) Compiled() (*Job, error) {
	if j.Plan != nil {
		return j, nil
	}
	next := *j
	if err := next.compile(); err != nil {
		return nil, &DamagedError{Key: j.Key, Revision: j.Revision, Reason: err.Error(), meta: j.meta()}
	}
	return &next, nil
}

// DecodeJob reads and compiles a stored job: [ReadJob] and [Job.Compiled].
func DecodeJob(k Key, revision uint64, data []byte, actions ActionReader, secrets Sealer) (*Job, error) {
	j, err := ReadJob(k, revision, data, actions, secrets)
	if err != nil {
		return nil, err
	}
	return j.Compiled()
}

// PlanKeeper keeps plans of stored jobs that take long to compile.
type PlanKeeper interface {
	// Kept returns the plan of a revision of a job, or the error that compiling it ended with, if it is kept.
	Kept(k Key, revision uint64) (plan *spec.Plan, ok bool, err error)
	// Keep takes the plan of a revision, or the error, if it is worth to be kept.
	Keep(k Key, revision uint64, plan *spec.Plan, err error)
}

// DecodeJobWith is [DecodeJob] for who keeps plans.
func DecodeJobWith(plans PlanKeeper, k Key, revision uint64, data []byte, actions ActionReader, secrets Sealer) (*Job, error) {
	j, err := ReadJob(k, revision, data, actions, secrets)
	if err != nil || j.Plan != nil {
		return j, err
	}
	plan, known, err := plans.Kept(k, revision)
	if known && err != nil {
		return nil, err
	}
	if known {
		j.Plan = plan
		return j, nil
	}
	compiled, err := j.Compiled()
	if err != nil {
		plans.Keep(k, revision, nil, err)
		return nil, err
	}
	plans.Keep(k, revision, compiled.Plan, nil)
	return compiled, nil
}

// StoredSpecSequence returns the SpecSequence of a stored job without reading
// the rest of it, 0 when it cannot be read.
func StoredSpecSequence(data []byte) uint64 {
	s, err := decodeMeta(data)
	if err != nil {
		return 0
	}
	return s.SpecSequence
}

// MayHaveState reports whether the job may turn out to have a state once it is read. What cannot be read may be damaged.
func MayHaveState(data []byte, state State) bool {
	m, err := decodeMeta(data)
	return err != nil || m.State == state || state == Damaged
}

// StoredState returns the state of a stored job without reading the rest of
// it, enabled when it cannot be read.
func StoredState(data []byte) State {
	m, err := decodeMeta(data)
	if err != nil {
		return Enabled
	}
	return m.State
}

// StoredNeverRan reports whether a stored job is over and has never run.
func StoredNeverRan(data []byte) bool {
	m, err := decodeMeta(data)
	return err == nil && m.State.Final() && !m.Progress.Any()
}

// StoredIncarnation returns the incarnation of a stored job without reading the
// rest of it, "" when it cannot be read.
func StoredIncarnation(data []byte) string {
	m, err := decodeMeta(data)
	if err != nil {
		return ""
	}
	return (&Job{UID: m.UID}).Incarnation()
}

// SameDefinition reports whether a stored revision of the job holds the same
// definition as j: writes that are no edits leave the generation as it is.
func (j *Job) SameDefinition(data []byte) bool {
	m, err := decodeMeta(data)
	return err == nil && j.UID == m.UID && j.Generation == m.Generation
}
