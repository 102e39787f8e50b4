package scheduler

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"slices"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Sealer seals and opens the secrets of a job's properties in the store. Package secrets implements it.
type Sealer interface {
	// Seal returns the properties to store. Secrets that could not be opened stay as they are.
	Seal(k Key, properties document.Value) (document.Value, error)

	// Unseal opens the secrets of stored properties for which there are keys.
	Unseal(k Key, properties document.Value) document.Value
}

// sealed returns the properties to store.
func (d *Definition) sealed(k Key, secrets Sealer) (document.Value, error) {
	if !d.secrets {
		return d.properties, nil
	}
	return secrets.Seal(k, d.properties)
}

// Encode returns the stored form of the job: an object with the mark of its form, the fields of storedMeta and, last,
// the properties with sealed secrets.
func (j *Job) Encode(secrets Sealer) ([]byte, error) {
	data, err := j.meta().encode(usualSize)
	if err != nil {
		return nil, err
	}
	if data = append(data, propertiesMember...); j.Def.text != "" {
		return signed(append(append(data, j.Def.text...), '}')), nil
	}
	properties, err := j.Def.sealed(j.Key, secrets)
	if err != nil {
		return nil, err
	}
	return signed(append(properties.AppendJSON(data), '}')), nil
}

// usualSize is the capacity in bytes for a stored job; most jobs fit.
const usualSize = 768

// propertiesMember begins the last field of a stored job. The fields before it contain no text of a user, so its first
// occurrence is the right one.
const propertiesMember = `,"properties":`

// SplitStored splits a stored job into the part before the field properties and that field's value.
func SplitStored(data []byte) (head, properties []byte, err error) {
	head, rest, ok := bytes.Cut(data, []byte(propertiesMember))
	if !ok || len(rest) == 0 {
		return nil, nil, errors.New("properties: missing")
	}
	return head, rest[:len(rest)-1], nil
}

// JoinStored is the inverse of [SplitStored].
func JoinStored(head, properties []byte) []byte {
	return slices.Concat(head, []byte(propertiesMember), properties, []byte("}"))
}

// ReadJob decodes a stored job. A job with a text schedule, which may be slow to compile, has no plan yet: see
// [Job.Compiled]. A secret without a known key stays locked: it is stored again unchanged, and attempts that need it
// fail. The error is a [*DamagedError].
func ReadJob(k Key, revision uint64, data []byte, actions ActionReader, secrets Sealer) (*Job, error) {
	return readStored(k, revision, data, DefinitionDecoder{Actions: actions}, secrets)
}

func readStored(k Key, revision uint64, data []byte, reading DefinitionDecoder, secrets Sealer) (*Job, error) {
	if err := checkForm(data); err != nil {
		return nil, damagedJob(k, revision, data, err)
	}
	reading.Key, reading.stored, reading.trusted = k, true, true
	j, err := readJob(k, revision, data, reading, secrets)
	if err != nil { // full validation, for the exact error
		reading.trusted = false
		j, err = readJob(k, revision, data, reading, secrets)
	}
	if err != nil {
		return nil, damagedJob(k, revision, data, err)
	}
	return j, nil
}

// readJob opens the secrets for which there are keys. All strings of the job share one text.
func readJob(k Key, revision uint64, data []byte, reading DefinitionDecoder, secrets Sealer) (*Job, error) {
	head, properties, err := SplitStored(data)
	if err != nil {
		return nil, err
	}
	var meta storedMeta
	text := string(data)
	if err = meta.decode(head, text); err != nil {
		return nil, err
	}
	text = text[len(head)+len(propertiesMember):][:len(properties)]
	v, err := document.ParseText(text)
	if err != nil {
		return nil, err
	}
	sealed := document.MayHoldSealed(properties)
	if sealed {
		v = secrets.Unseal(k, v)
	}
	def, err := reading.Definition(v)
	if err != nil {
		return nil, err
	}
	def.secrets = def.secrets || sealed
	if reading.compact && reading.trusted && !def.secrets && len(def.properties.Members()) == len(v.Members()) {
		def.properties, def.text = document.Value{}, text
	}
	return meta.job(k, revision, len(data), def)
}

// job returns the job stored as m and a definition. size is its stored size in bytes.
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

// plain reports whether the job has no text schedule, so that it is cheap to compile.
func (j *Job) plain() bool {
	recurrence := j.Def.Timing.Recurrence
	return recurrence == nil || recurrence.Rule == nil
}

// Compiled returns a job from [ReadJob] with its plan: j itself if it has one. The error is a [*DamagedError]: the
// schedule is too expensive to compile.
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

// DecodeJob decodes and compiles a stored job: [ReadJob] and [Job.Compiled].
func DecodeJob(k Key, revision uint64, data []byte, actions ActionReader, secrets Sealer) (*Job, error) {
	j, err := ReadJob(k, revision, data, actions, secrets)
	if err != nil {
		return nil, err
	}
	return j.Compiled()
}

// PlanKeeper caches plans of stored jobs that are slow to compile.
type PlanKeeper interface {
	// Kept returns the cached plan of a revision of a job, or the error of compiling it.
	Kept(k Key, revision uint64) (plan *spec.Plan, ok bool, err error)
	// Keep caches the plan of a revision, or the error, if it is worth the memory.
	Keep(k Key, revision uint64, plan *spec.Plan, err error)
}

// DecodeJobWith is [DecodeJob] with a cache of plans.
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

// StoredSpecSequence returns the SpecSequence of a stored job without decoding the rest, 0 if it cannot be decoded.
func StoredSpecSequence(data []byte) uint64 {
	s, err := decodeMeta(data)
	if err != nil {
		return 0
	}
	return s.SpecSequence
}

// MayHaveState reports whether the stored job may have a state once it is fully decoded. An undecodable job may be
// damaged.
func MayHaveState(data []byte, state State) bool {
	m, err := decodeMeta(data)
	return err != nil || m.State == state || state == Damaged
}

// StoredState returns the state of a stored job without decoding the rest, Enabled if it cannot be decoded.
func StoredState(data []byte) State {
	m, err := decodeMeta(data)
	if err != nil {
		return Enabled
	}
	return m.State
}

// StoredNeverRan reports whether a stored job has ended without ever running.
func StoredNeverRan(data []byte) bool {
	m, err := decodeMeta(data)
	return err == nil && m.State.Final() && !m.Progress.Any()
}

// StoredOneShot reports whether a stored job runs once: it has neither a recurrence nor a trigger.
func StoredOneShot(data []byte) bool {
	_, properties, err := SplitStored(data)
	again := func(field string) bool { return bytes.Contains(properties, []byte(field)) }
	return err == nil && !again(`"recurrence":`) && !again(`"trigger":`)
}

// StoredIncarnation returns the incarnation of a stored job without decoding the rest, "" if it cannot be decoded.
func StoredIncarnation(data []byte) string {
	m, err := decodeMeta(data)
	if err != nil {
		return ""
	}
	return (&Job{UID: m.UID}).Incarnation()
}

// SameDefinition reports whether a stored revision of the job holds the same definition as j. Writes that are not edits
// keep the generation.
func (j *Job) SameDefinition(data []byte) bool {
	m, err := decodeMeta(data)
	return err == nil && j.UID == m.UID && j.Generation == m.Generation
}

// The first field of a stored job is its form: a digit, the version, and eight hexadecimal digits, a checksum of all
// that follows the field. If it matches, the job was valid and canonical when it was written, and is not validated
// again. A job with another form, or a wrong checksum, is damaged.
const (
	formMark      = `{"form":"` + storedForm + `",`
	formVersionAt = len(`{"form":"`)
	formSumAt     = formVersionAt + 1
	formSumEnd    = formSumAt + 8
)

// Reasons why a stored job is damaged.
var (
	errForm    = errors.New("form: unknown: a later version of Carillon may have written it")
	errChanged = errors.New("form: the checksum is not that of what follows: it was changed outside Carillon, or the disk did")
)

// checkForm returns an error unless this version can trust the stored job: known form, correct checksum.
func checkForm(data []byte) error {
	if len(data) < len(formMark) || string(data[:formSumAt]) != formMark[:formSumAt] || string(data[formSumEnd:len(formMark)]) != `",` {
		return errForm
	}
	if sum := checksum(data[len(formMark):]); !bytes.Equal(data[formSumAt:formSumEnd], sum[:]) {
		return errChanged
	}
	return nil
}

// signed writes the checksum into a stored job that begins with formMark.
func signed(data []byte) []byte {
	sum := checksum(data[len(formMark):])
	copy(data[formSumAt:], sum[:])
	return data
}

// castagnoli is the polynomial with hardware support. It detects every change of up to four consecutive bytes.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum covers everything after the form except sealed texts: these are authenticated themselves, and a key rotation
// rewrites them.
func checksum(data []byte) (digits [8]byte) {
	sum := uint32(0)
	for {
		sealed, after := document.NextSealed(data)
		sum = crc32.Update(sum, castagnoli, data[:sealed])
		if after == len(data) {
			break
		}
		data = data[after:]
	}
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], sum)
	hex.Encode(digits[:], b[:])
	return digits
}
