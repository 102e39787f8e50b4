package work

// Meter counts the work that is done on a schedule, and says when it is too much. A unit is about the time that it takes
// to find the next day of a set, some twenty nanoseconds on a machine of 2020. What is counted depends on the schedule and
// on the question alone, so that a schedule which is too costly on one machine is so on all.
//
// A nil meter counts nothing and never says so. A meter is used by one goroutine.
type Meter struct{ limit, spent int64 }

// New returns a meter of so many units.
func New(units int64) *Meter { return &Meter{limit: units} }

// Reset lets a meter begin again, with so many units.
func (m *Meter) Reset(units int64) { *m = Meter{limit: units} }

// Spend counts work, and reports whether there is any left to do more. Who is told that there is none gives up, with
// whatever answer: the one who made the meter asks it whether the answer is one.
func (m *Meter) Spend(units int64) bool {
	if m == nil {
		return true
	}
	m.spent += units
	return m.spent <= m.limit
}

// GiveUp exhausts the meter and returns false, for a search that has reached its own bound without an answer.
func (m *Meter) GiveUp() bool {
	if m != nil {
		m.spent = max(m.spent, m.limit+1)
	}
	return false
}

// Exhausted reports whether more was spent than there was, so that what was found meanwhile is no answer.
func (m *Meter) Exhausted() bool { return m != nil && m.spent > m.limit }

// Spent returns the units that have been counted.
func (m *Meter) Spent() int64 {
	if m == nil {
		return 0
	}
	return m.spent
}

// Left returns the units that may yet be spent.
func (m *Meter) Left() int64 { return max(0, m.limit-m.spent) }
