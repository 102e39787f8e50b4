package preview

import "time"

// pause has a preview of what recurs begin when the pause ends, if it is not over by then.
func (s *subject) pause(f *flags) {
	if !s.paused.After(f.now) || !s.paused.After(f.after) {
		s.paused = time.Time{}
		return
	}
	if s.timing.Recurrence == nil {
		return
	}
	f.after = s.paused.Add(-1)
	s.notes = append(s.notes, "paused until "+moment(s.paused)+": what is due before that does not run")
	if s.timing.Recurrence.Count > 0 {
		s.notes = append(s.notes, "what does not run uses up nothing of the count: there may be more runs than this list has")
	}
}

// wait has the one run of a job that recurs not wait for the end of the pause.
func (s *subject) wait(times []time.Time) {
	if len(times) > 0 && times[0].Before(s.paused) {
		times[0] = s.paused
		s.notes = append(s.notes, "paused until "+moment(s.paused)+": it runs then")
	}
}
