package work

// Meter counts the work of a query and limits it. One unit is about the time to find the next day of a set, some twenty
// nanoseconds on a machine of 2020. The count depends only on the schedule and the query, so a schedule that is too
// expensive on one machine is too expensive on all.
//
// A nil meter counts nothing and is never exhausted. A meter is used by one goroutine.
type Meter struct{ limit, spent int64 }

// New returns a meter with the given units.
func New(units int64) *Meter { return &Meter{limit: units} }

// Reset restarts a meter with the given units.
func (m *Meter) Reset(units int64) { *m = Meter{limit: units} }

// Spend counts work and reports whether budget is left. If not, the caller returns immediately with any result, and the
// owner of the meter discards the result.
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

// Exhausted reports whether the budget was exceeded. The results are then invalid.
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
