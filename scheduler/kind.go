package scheduler

// Kind says who asked for a run, and whether the job's schedule goes on from
// its end. In stored batons and records it is the flags manual and oneOff.
type Kind uint8

// The kinds of runs.
const (
	// Planned is an occurrence of the schedule. It rides the job's own baton.
	Planned Kind = iota

	// Manual is a run by hand. It rides the job's own baton, in front of the
	// planned occurrence, with which the schedule resumes.
	Manual

	// Detached is an occurrence of a job whose occurrences may overlap. It
	// rides a message of its own, beside the job's baton, and passes nothing on.
	Detached

	// ManualDetached is a run by hand of a job that is disabled and so has no
	// baton: it rides a message of its own, too.
	ManualDetached
)

// IsManual reports whether the run was asked for by hand. It uses up no
// recurrence.count.
func (k Kind) IsManual() bool { return k == Manual || k == ManualDetached }

// IsDetached reports whether the run rides a message of its own. Its counters
// are added to the job's when it has ended.
func (k Kind) IsDetached() bool { return k == Detached || k == ManualDetached }

// kindFlags is a kind as it is stored.
type kindFlags struct {
	Manual   bool `json:"manual,omitempty"` // asked for by a run request
	Detached bool `json:"oneOff,omitempty"` // rides beside the job's baton
}

func (k Kind) flags() kindFlags { return kindFlags{k.IsManual(), k.IsDetached()} }

func (f kindFlags) kind() Kind {
	switch {
	case f.Manual && f.Detached:
		return ManualDetached
	case f.Manual:
		return Manual
	case f.Detached:
		return Detached
	}
	return Planned
}
