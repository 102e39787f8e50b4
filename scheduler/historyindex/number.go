package historyindex

import "github.com/carillon-sched/carillon/scheduler"

// subject identifies records that the store counts together.
type subject struct {
	job     scheduler.Key
	outcome scheduler.Outcome
}

// rowsOf is the linked list of a subject's rows.
type rowsOf struct {
	subject

	oldest, newest uint64
	count          int64
}

// subjects assigns numbers to subjects and holds their rows.
type subjects struct {
	numbers map[subject]uint32
	all     []rowsOf
	free    []uint32
}

func newSubjects() subjects { return subjects{numbers: map[subject]uint32{}} }

// number returns the number of a subject.
func (s *subjects) number(of subject) uint32 {
	n, ok := s.numbers[of]
	if ok {
		return n
	}
	if last := len(s.free) - 1; last >= 0 {
		n, s.free = s.free[last], s.free[:last]
		s.all[n] = rowsOf{subject: of}
	} else {
		n = uint32(len(s.all))
		s.all = append(s.all, rowsOf{subject: of})
	}
	s.numbers[of] = n
	return n
}

// release frees the number of a subject without rows.
func (s *subjects) release(n uint32) {
	delete(s.numbers, s.all[n].subject)
	s.all[n] = rowsOf{}
	s.free = append(s.free, n)
}

// traits assigns numbers to combinations of traits.
type traits struct {
	numbers map[scheduler.RecordTrait]uint32
	all     []scheduler.RecordTrait
}

// traitsMost limits the distinct combinations, a small multiple of the number of targets. Records beyond the limit are
// examined individually.
const traitsMost = 1 << 16

// anyTrait is the number of all combinations beyond the limit.
const anyTrait = 0

func newTraits() traits {
	return traits{numbers: map[scheduler.RecordTrait]uint32{}, all: make([]scheduler.RecordTrait, 1)}
}

func (t *traits) number(of scheduler.RecordTrait) uint32 {
	n, ok := t.numbers[of]
	if !ok && len(t.all) < traitsMost {
		n = uint32(len(t.all))
		t.all = append(t.all, of)
		t.numbers[of] = n
	}
	return n // anyTrait beyond the limit
}
