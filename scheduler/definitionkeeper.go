package scheduler

import "github.com/carillon-sched/carillon/scheduler/document"

// DefinitionKeeper keeps definitions that several jobs have in common, by their stored
// properties, so that they are read once and in memory once.
type DefinitionKeeper interface {
	// Kept returns the definition that properties were read as, nil when it is not
	// kept.
	Kept(properties []byte) *Definition
	// Keep takes the definition that properties were read as, if it is worth to be
	// kept.
	Keep(properties []byte, def *Definition)
}

// ReadJobWith is [ReadJob] for who keeps definitions. Those with secrets of their own
// are each job's, as its name is part of how they are sealed.
func ReadJobWith(defs DefinitionKeeper, k Key, revision uint64, data []byte, actions ActionReader, secrets Sealer) (*Job, error) {
	head, properties, err := SplitStored(data)
	if err != nil || document.MayHoldSealed(properties) {
		return ReadJob(k, revision, data, actions, secrets)
	}
	if err := checkForm(data); err != nil {
		return nil, damagedJob(k, revision, data, err)
	}
	def := defs.Kept(properties)
	if def == nil {
		j, err := ReadJob(k, revision, data, actions, secrets)
		if err == nil {
			defs.Keep(properties, j.Def)
		}
		return j, err
	}
	var m storedMeta
	if err = m.decode(head); err == nil {
		var j *Job
		if j, err = m.job(k, revision, len(data), def); err == nil {
			return j, nil
		}
	}
	return nil, damagedJob(k, revision, data, err)
}
