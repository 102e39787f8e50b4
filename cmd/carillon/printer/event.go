package printer

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/cmd/carillon/client"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
)

// Event is a history record as one line for people.
type Event struct {
	job      string
	outcome  scheduler.Outcome
	at       time.Time // when the attempt started, or when it was decided that there is none
	attempt  bool
	late     time.Duration
	took     time.Duration
	retry    int
	code     int
	onError  bool // the errorAction's
	manual   bool
	message  string
	reason   string
	from, to time.Time
	count    int
}

// Of returns the event of a record that came over the API.
func Of(r *client.Record) Event {
	e := Event{
		job: r.Job, outcome: scheduler.Outcome(strings.ToLower(r.Status)), at: r.Started, attempt: !r.Started.IsZero(),
		late: seconds(r.Lateness), took: seconds(r.Duration), retry: r.Retry, code: r.Code, onError: r.Action == "ErrorAction",
		manual: r.Manual, message: r.Message, reason: r.Reason, from: r.From, to: r.To, count: r.Count,
	}
	if !e.attempt {
		e.at = r.Ended
	}
	return e
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// OfRecord returns the event of a record of this process.
func OfRecord(r *scheduler.Record) Event {
	e := Event{
		job: r.Job.String(), outcome: r.Outcome, at: r.Started, attempt: !r.Started.IsZero(),
		late: r.Lateness(), took: r.Duration, retry: r.Attempt, code: r.Status, onError: r.Phase == scheduler.ErrorPhase,
		manual: r.Kind.IsManual(), message: r.Message, reason: string(r.Reason), from: r.From, to: r.To, count: r.Count,
	}
	if !e.attempt {
		e.at = r.Ended
	}
	return e
}

// colours are those of the outcomes.
var colours = map[scheduler.Outcome]string{
	scheduler.OutcomeCompleted: terminal.Green, scheduler.OutcomeFailed: terminal.Red, scheduler.OutcomeFaulted: terminal.Red,
	scheduler.OutcomePostponed: terminal.Yellow, scheduler.OutcomeSkipped: terminal.Yellow,
}

// How times are shown: of what happens now, and of what may be long ago.
const (
	Clock = "15:04:05.000"
	Dated = "2006-01-02 15:04:05.000"
)

// local is a time as the clock on the wall shows it, which is what people
// compare it with. Programs are given UTC.
func local(t time.Time, layout string) string {
	return t.Local().Format(layout) //nolint:gosmopolitan // see above
}

// lateness is how late the attempt started, in milliseconds.
func (e Event) lateness() string {
	if !e.attempt {
		return "-"
	}
	return "+" + milliseconds(e.late)
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// detail is the rest of the line.
func (e Event) detail() string {
	var parts []string
	add := func(yes bool, format string, args ...any) {
		if yes {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(e.attempt && e.code != 0, "%d in %s", e.code, milliseconds(e.took))
	add(e.manual, "run by hand")
	add(e.onError && e.attempt, "errorAction")
	add(e.retry > 0 && e.attempt, "retry %d", e.retry)
	add(e.count > 0, "%s", e.instants())
	add(e.reason != "", "because of %s", e.reason)
	add(e.outcome != scheduler.OutcomeCompleted && e.message != "", "%s", brief(e.message))
	return strings.Join(parts, ", ")
}

// instants says which instants were skipped or postponed.
func (e Event) instants() string {
	if e.count == 1 {
		return local(e.from, Clock)
	}
	if e.from.Equal(e.to) { // of times that a clock jumped over
		return fmt.Sprintf("%d at %s", e.count, local(e.from, Clock))
	}
	return fmt.Sprintf("%d instants from %s to %s", e.count, local(e.from, Clock), local(e.to, Clock))
}

// widest is the length at which a message is cut.
const widest = 160

// prefix is what Azure Scheduler's messages begin with: the type of the action,
// which the job tells.
var prefix = regexp.MustCompile(`^[A-Za-z]+ Action - `)

// brief is a record's message without that and the response, on one line.
func brief(message string) string {
	message, _, _ = strings.Cut(message, " Response Headers:")
	message = prefix.ReplaceAllString(message, "")
	message = strings.Join(strings.Fields(message), " ")
	if utf8.RuneCountInString(message) <= widest {
		return message
	}
	return string([]rune(message)[:widest]) + "…"
}
