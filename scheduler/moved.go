package scheduler

import (
	"slices"
	"time"
)

// MovedJob converts a stored job for another store. It clears specSequence, a position in the spec stream of the old
// store: the new store would treat its own specs as older. Damaged jobs are returned unchanged.
func MovedJob(data []byte) []byte {
	return remade(data, func(m *storedMeta) bool {
		changed := m.SpecSequence != 0
		m.SpecSequence = 0
		return changed
	})
}

// MovedJobDisabled is [MovedJob] for a job that arrives disabled. p is the progress of the job's baton, nil for none.
// An ended job stays ended.
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

// remade changes the metadata of a stored job; change reports whether it made a change. A damaged job, or a job of
// another form, is returned unchanged.
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
	next, err := m.encode(len(data) + usualSize)
	if err != nil {
		return data
	}
	return signed(append(append(append(next, propertiesMember...), properties...), '}'))
}

// Moved returns b for another store, in which its definition gets a revision of at least atLeast, above all earlier
// revisions. running: a worker had the baton, so its attempt may have run, and the next worker searches the history
// first.
func (b Baton) Moved(atLeast uint64, running bool) Baton {
	b.Revision = atLeast
	b.Suspect = b.Suspect || running
	return b
}

// Timing of moved batons.
const (
	// movedGrace is the minimum delay: the baton's definition is stored a few milliseconds after it.
	movedGrace = 2 * time.Second

	// movedLead is the earliest firing before the due time. The schedule's interval is not considered.
	movedLead = lead + widest
)

// ArmMoved returns when JetStream fires the baton b of job k, which is moved into the store at now, one of others in
// total. Overdue batons are spread evenly at the rate that workers can process.
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

// StoredEditCount returns the full uid and the number of edits of a stored job, which identify a state of its
// definition; ok is false if they cannot be decoded.
func StoredEditCount(data []byte) (uid string, generation int, ok bool) {
	m, err := decodeMeta(data)
	return m.UID, m.Generation, err == nil
}

// Counted reports whether p includes the counters of the detached run b, which has then ended.
func (p *Progress) Counted(b Baton) bool { return slices.Contains(p.Merged, instantID(b.Nominal)) }

// StoredEnd returns approximately when a stored job ended: its last run, skip or schedule change. Other edits do not
// count.
func StoredEnd(data []byte) time.Time {
	m, _ := decodeMeta(data)
	return later(later(m.Progress.Last, m.Progress.Seen), m.Anchor)
}
