package job

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// standing is the summary of a job: its current state, and what would change it.
type standing struct {
	State string // name of its mark
	Class string // of the box: note, warning or problem; "": none
	Text  string
	Hint  string
}

// standingOf summarizes a job. It is pure.
func standingOf(v *view.Job, beside []service.Beside, now time.Time) standing {
	s := standing{State: string(v.Job.State)}
	switch {
	case v.Job.State == scheduler.Damaged:
		s.Class, s.Text, s.Hint = "problem", v.Status.Over, words.Say("job.is.damaged.hint")
	case v.Job.State.Final():
		s.Text = upper(v.Status.Over)
		s.Class = "note"
		if v.Job.State == scheduler.Faulted {
			s.Class = "problem"
		}
	case v.Job.State == scheduler.Disabled:
		s.Class, s.Text, s.Hint = "warning", words.Say("job.is.disabled"), words.Say("job.is.disabled.hint")
	case v.Status.Running && v.Status.Retry > 0:
		s.State, s.Text = "running", words.Say("job.is.running.retry", v.Status.Retry)
	case v.Status.Running:
		s.State, s.Text = "running", words.Say("job.is.running")
	case v.Status.WaitsFor != "":
		s.State, s.Class = "postponed", "warning"
		s.Text, s.Hint = words.Say("job.is.waiting", v.Status.WaitsFor), words.Say("job.is.waiting.hint")
	case v.Job.PausedAt(now) && v.Status.Retry == 0:
		s.State, s.Class = string(view.Paused), "warning"
		s.Text, s.Hint = words.Say("job.is.paused", onClock(v.Job.PausedUntil, v.Job)), words.Say("job.is.paused.hint")
	case v.Status.Retry > 0:
		s.State, s.Text = "retrying", words.Count("job.is.retrying", v.Status.Retry)
	case v.Status.Next.IsZero():
		s.Class, s.Text, s.Hint = "warning", words.Say("job.is.stranded"), words.Say("job.is.stranded.hint")
	case v.Status.Occurrences > 1 && v.Status.Faults >= v.Status.Occurrences:
		s.State, s.Class = string(scheduler.OutcomeFailed), "problem"
		s.Text, s.Hint = words.Say("job.is.failing"), words.Say("job.is.failing.hint")
	default:
		s.Text = words.Say("job.is.enabled")
	}
	if len(beside) > 0 {
		s.addBeside(beside)
	}
	return s
}

// addBeside adds the job's concurrent runs.
func (s *standing) addBeside(beside []service.Beside) {
	s.Text += " " + words.Count("job.is.beside", len(beside))
	if s.State == string(scheduler.Disabled) || s.State == string(scheduler.Enabled) {
		for _, b := range beside {
			if b.Running {
				s.State = "running"
			}
		}
	}
}

// onClock formats an instant on a job's clock.
func onClock(t time.Time, j *scheduler.Job) string {
	zone := time.UTC
	if j.Plan != nil {
		zone = j.Plan.Zone()
	}
	return t.In(zone).Format(clockForm + " MST")
}

// upper capitalizes a sentence.
func upper(s string) string {
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		return string(s[0]-'a'+'A') + s[1:] + "."
	}
	return s
}
