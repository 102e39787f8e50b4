package historyindex

import "github.com/carillon-sched/carillon/scheduler"

// subject is whose records the store counts together.
type subject struct {
	job     scheduler.Key
	outcome scheduler.Outcome
}

// rowsOf are the rows of a subject, each of which knows the next.
type rowsOf struct {
	subject

	oldest, newest uint64
	count          int64
}

// subjects are numbered, and have their rows.
type subjects struct {
	numbers map[subject]uint32
	all     []rowsOf
	free    []uint32
}

func newSubjects() subjects { return subjects{numbers: map[subject]uint32{}} }

// number is that of a subject.
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

// traits are numbered.
type traits struct {
	numbers map[scheduler.RecordTrait]uint32
	all     []scheduler.RecordTrait
}

// traitsMost bounds the traits that are told apart. There are as many as targets of
// jobs times some; those beyond are looked at one by one.
const traitsMost = 1 << 16

// anyTrait is the number of the traits that are not told apart.
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
	return n // of one that is not told apart: anyTrait
}
