package printer

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// event is a history record as one line for people.
type event struct{ *client.Record }

// outcome is how the attempt or the occurrence ended.
func (e event) outcome() scheduler.Outcome { return scheduler.Outcome(strings.ToLower(e.Status)) }

// attempted reports whether there was an attempt, not only a decision that there is none.
func (e event) attempted() bool { return !e.Started.IsZero() && e.GivenUp.IsZero() }

// at is when the attempt started, or when it was decided that there is none.
func (e event) at() time.Time {
	if e.attempted() {
		return e.Started
	}
	return cmp.Or(e.GivenUp, e.Ended)
}

// colours are those of the outcomes.
var colours = map[scheduler.Outcome]string{
	scheduler.OutcomeCompleted: terminal.Green, scheduler.OutcomeFailed: terminal.Red, scheduler.OutcomeFaulted: terminal.Red,
	scheduler.OutcomePostponed: terminal.Yellow, scheduler.OutcomeSkipped: terminal.Yellow,
}

// lateness is how late the attempt started, in milliseconds.
func (e event) lateness() string {
	if !e.attempted() {
		return "-"
	}
	return "+" + milliseconds(e.Lateness)
}

func milliseconds(s *scheduler.Seconds) string {
	if s == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f ms", time.Duration(*s).Seconds()*1000)
}

// repeated is the time of the occurrence that a run by hand repeats, by the schedule.
func (e event) repeated(show func(time.Time) string) string {
	_, text, _ := strings.Cut(e.Resubmits, "@")
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return show(at)
	}
	return e.Resubmits
}

// detail is the rest of the line. show shows a time.
func (e event) detail(show func(time.Time) string) string {
	var parts []string
	add := func(yes bool, format string, args ...any) {
		if yes {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(e.attempted() && e.StatusCode != 0, "%d in %s", e.StatusCode, milliseconds(e.Duration))
	add(e.outcome() == scheduler.OutcomeFaulted && e.Reason == "", "the occurrence failed for good")
	add(e.Late, "late")
	add(e.Manual && e.Resubmits == "", "run by hand")
	add(e.Resubmits != "", "repeats %s", e.repeated(show))
	add(e.Action == "ErrorAction" && e.attempted(), "%s", cmp.Or(strings.TrimPrefix(e.ActionPath, "action."), "errorAction"))
	add(e.Retry > 0 && e.attempted(), "retry %d", e.Retry)
	add(e.Count > 0, "%s", e.instants(show))
	add(e.Reason != "" && e.Reason != scheduler.ReasonCanceled, "because of %s", e.Reason)
	add(e.outcome() != scheduler.OutcomeCompleted && e.Message != "", "%s", brief(e.Short()))
	return strings.Join(parts, ", ")
}

// instants says which instants were skipped or postponed.
func (e event) instants(show func(time.Time) string) string {
	if e.Count == 1 {
		return show(e.From)
	}
	if e.From.Equal(e.To) { // of times that a clock jumped over
		return fmt.Sprintf("%d at %s", e.Count, show(e.From))
	}
	return fmt.Sprintf("%d instants from %s to %s", e.Count, show(e.From), show(e.To))
}

// widest is the length at which a message is cut.
const widest = 160

// brief is the beginning of a message, on one line.
func brief(message string) string {
	message = strings.Join(strings.Fields(message), " ")
	if utf8.RuneCountInString(message) <= widest {
		return message
	}
	return string([]rune(message)[:widest]) + "…"
}
