package scheduler

// Stranded is a running baton that nobody is given: the server counts it as
// acknowledged, and was killed before it removed it. Its run may have ended, or never
// have begun.
type Stranded struct {
	Slot     Slot
	Body     []byte
	Sequence uint64 // of the message
}

// Rescue is what becomes of a [Stranded] baton.
type Rescue int

// What becomes of it.
const (
	Discard   Rescue = iota // it was passed on
	FireAgain               // whoever gets it looks whether its attempt is recorded
)

// Rescue says what becomes of the baton. waiting and running are the sequences of the
// batons that wait and run last in its slot, 0 for none. One that was passed on must
// not be again: the job would have two.
func (s *Stranded) Rescue(waiting, running uint64) Rescue {
	if waiting != 0 || running != s.Sequence {
		return Discard
	}
	return FireAgain
}

// Again returns the body of the baton to be fired again: it may have been run before. One that
// cannot be read stays as it is, for the worker to remove.
func (s *Stranded) Again() []byte {
	b, err := DecodeBaton(s.Body)
	if err != nil {
		return s.Body
	}
	b.Suspect = true
	return b.Encode()
}
