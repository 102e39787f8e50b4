package scheduler

import (
	"encoding/json"
	"fmt"
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

// storedJob is a job as it lies in the store.
type storedJob struct {
	UID          string          `json:"uid"`
	Generation   int             `json:"generation"`
	ScheduleGen  int             `json:"scheduleGeneration"`
	Created      time.Time       `json:"created"`
	Updated      time.Time       `json:"updated"`
	Anchor       time.Time       `json:"anchor"`
	SpecSequence uint64          `json:"specSequence,omitempty"`
	State        State           `json:"state"`
	Progress     Progress        `json:"progress,omitzero"`
	Properties   json.RawMessage `json:"properties"`
}

// Encode returns the job as it is stored.
func (j *Job) Encode() ([]byte, error) {
	return json.Marshal(storedJob{
		j.UID, j.Generation, j.ScheduleGen, j.Created, j.Updated, j.Anchor,
		j.SpecSequence, j.State, j.Progress, j.Def.Properties(),
	})
}

// DecodeJob reads and compiles a stored job.
func DecodeJob(k Key, revision uint64, data []byte, actions ActionReader) (*Job, error) {
	var s storedJob
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("stored job %s: %w", k, err)
	}
	v, err := document.Parse(s.Properties)
	if err != nil {
		return nil, fmt.Errorf("stored job %s: %w", k, err)
	}
	def, err := ReadDefinition(v, Limits{stored: true}, actions)
	if err != nil {
		return nil, fmt.Errorf("stored job %s: %w", k, err)
	}
	j := &Job{
		Key: k, Revision: revision, UID: s.UID, Generation: s.Generation, ScheduleGen: s.ScheduleGen,
		Created: s.Created, Updated: s.Updated, Anchor: s.Anchor, SpecSequence: s.SpecSequence,
		State: s.State, Progress: s.Progress, Def: def,
	}
	return j, j.compile()
}

// storedSpecSequence returns the SpecSequence of a stored job without reading
// the rest of it, 0 when it cannot be read.
func storedSpecSequence(data []byte) uint64 {
	var s struct {
		SpecSequence uint64 `json:"specSequence"`
	}
	if json.Unmarshal(data, &s) != nil {
		return 0
	}
	return s.SpecSequence
}

// compile builds the plan from the definition.
func (j *Job) compile() error {
	plan, err := spec.NewPlan(j.Def.StartTime, j.Anchor, j.Def.Recurrence)
	if err != nil {
		return fmt.Errorf("job %s: %w", j.Key, err)
	}
	j.Plan = plan
	return nil
}
