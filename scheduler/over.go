package scheduler

import "fmt"

// Over says what a job at its end has come to, and what may be done; "" for a job
// that may run yet.
func (j *Job) Over() string {
	switch {
	case !j.State.Final():
		return ""
	case j.Progress.GaveUp:
		return "it takes too much work to find its next run, so it is over; put it with a simpler schedule"
	case !j.Progress.Any():
		return "it never ran, and its schedule has no time left; put it with another schedule"
	case j.State == Faulted:
		return "its last run failed, and it is over; " + runAgain
	}
	return "it ran already and is over; " + runAgain
}

// runAgain is how a job at its end is run once more.
const runAgain = "to run it again, put it with a change, such as another startTime"

// OverError refuses what only a job can do that is not at its end.
func (j *Job) OverError() error {
	return fmt.Errorf("job %s: %w: it is %s: %s", j.Key, ErrConflict, j.State, j.Over())
}
