package scheduler

import (
	"slices"
	"time"
)

// MovedJob returns a stored job as it is written into another store. It differs in one member: specSequence, which is a
// place among the specs of the store that it comes from, and would make the other one take its own specs for older ones.
// What cannot be read stays as it is.
func MovedJob(data []byte) []byte {
	return remade(data, func(m *storedMeta) bool {
		changed := m.SpecSequence != 0
		m.SpecSequence = 0
		return changed
	})
}

// MovedJobDisabled is [MovedJob] for a job that is to come disabled. p is the progress that its own baton carries, nil when
// it has none. A job at its end stays there.
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

// remade returns a stored job after a change of what is stored beside its properties; change reports whether it made one.
// A damaged job, or a job of another form, stays unchanged.
func remade(data []byte, change func(*storedMeta) bool) []byte {
	if checkForm(data) != nil {
		return data
	}
	head, properties, err := SplitStored(data)
	if err != nil {
		return data
	}
	var m storedMeta
	if m.decode(head) != nil || !change(&m) {
		return data
	}
	next, err := appendMeta(append(make([]byte, 0, len(data)+usualSize), formMark...), &m)
	if err != nil {
		return data
	}
	return signed(append(append(append(next, propertiesMember...), properties...), '}'))
}

// Moved returns b as it is armed in another store, in which its definition gets a revision that is not below atLeast, and
// above all that were there. running says that a worker had it, so that its attempt may have run: whoever takes it looks
// into the history first.
func (b Baton) Moved(atLeast uint64, running bool) Baton {
	b.Revision = atLeast
	b.Suspect = b.Suspect || running
	return b
}

// How moved batons are fired.
const (
	// movedGrace is the least time before one is: its definition follows it into the store, in some milliseconds.
	movedGrace = 2 * time.Second

	// movedLead is how much earlier than others it is fired at most, as the interval of its schedule is not looked at.
	movedLead = lead + widest
)

// ArmMoved returns when JetStream is to fire the baton b of the job k, which comes into the store at now together with
// others, so many in all. What fell due meanwhile comes as fast as workers take it, spread evenly.
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

// StoredEditCount returns the incarnation's full uid of a stored job and how many edits it has had, which together tell
// one state of its definition from all others; ok is false when that cannot be read.
func StoredEditCount(data []byte) (uid string, generation int, ok bool) {
	m, err := decodeMeta(data)
	return m.UID, m.Generation, err == nil
}

// Counted reports whether the counters of the detached run that b is of were added to p, so that it has ended.
func (p *Progress) Counted(b Baton) bool { return slices.Contains(p.Merged, instantID(b.Nominal)) }

// StoredEnd returns about when a stored job ended: when it last ran or was skipped, or got its schedule. Other edits do not
// count.
func StoredEnd(data []byte) time.Time {
	m, _ := decodeMeta(data)
	return later(later(m.Progress.Last, m.Progress.Seen), m.Anchor)
}
