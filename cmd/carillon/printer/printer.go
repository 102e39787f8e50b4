package printer

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// Printer prints records line by line, in columns that fit the records so far.
type Printer struct {
	t      *terminal.Terminal
	layout string // how times are shown
	width  int
	headed bool // the heading is printed or unwanted
}

// New returns a printer that shows times in a layout: [terminal.Clock] or
// [terminal.Dated].
func New(t *terminal.Terminal, layout string) *Printer { return &Printer{t, layout, 20, true} }

// Headed makes the printer print a heading before its first line.
func (p *Printer) Headed() *Printer {
	p.headed = false
	return p
}

// longestColumn is the width beyond which a long name moves its own line only.
const longestColumn = 48

// Widen makes room for a name.
func (p *Printer) Widen(job string) { p.width = max(p.width, min(len(job), longestColumn)) }

// Print prints a record or, for programs, its document.
func (p *Printer) Print(r *client.Record) {
	if p.t.JSON {
		_ = p.t.PrintJSON(r.Document) // a reader that has gone ends the process
		return
	}
	p.Widen(r.Job)
	show := func(at time.Time) string { return p.t.Time(at, p.layout) }
	if !p.headed {
		p.headed = true
		p.line(fmt.Sprintf("%-*s", len(show(r.Ended)), "STARTED"), "JOB", fmt.Sprintf("%-9s", "OUTCOME"), "LATE", "DETAILS")
	}
	e := event{r}
	outcome := p.t.Paint(colours[e.outcome()], fmt.Sprintf("%-9s", e.outcome()))
	p.line(show(e.at()), r.Job, outcome, e.lateness(), p.t.Paint(terminal.Dim, e.detail(show)))
}

func (p *Printer) line(at, job, outcome, late, detail string) {
	line := fmt.Sprintf("%s  %-*s  %s  %10s  %s", at, p.width, job, outcome, late, detail)
	p.t.Printf("%s\n", strings.TrimRight(line, " "))
}

// recordLog logs records for operators. It logs one failure per cause every ten seconds, with the number of the others,
// because thousands of jobs fail at the same target during an outage.
type recordLog struct {
	log      *slog.Logger
	watched  bool // by a person
	failures map[cause]*flow.RateLimitedLog
}

// cause groups the failures that share a log line.
type cause struct {
	outcome scheduler.Outcome
	target  string
	status  int // 0: no response
}

// mostCauses bounds the causes that have separate lines at the same time.
const mostCauses = 1024

// limit returns the level of a failure, and how many others with its cause were not logged before it.
func (l recordLog) limit(r *scheduler.Record) (slog.Level, int) {
	c := cause{r.Outcome, r.Target, r.Status}
	if l.failures[c] == nil && len(l.failures) >= mostCauses {
		c = cause{outcome: r.Outcome}
	}
	if l.failures[c] == nil {
		l.failures[c] = &flow.RateLimitedLog{}
	}
	return l.failures[c].Level()
}

// rest logs the numbers of the failures that no line has reported. It is called every ten seconds.
func (l recordLog) rest() {
	for c, failures := range l.failures {
		switch n, ok := failures.Rest(); {
		case n > 0:
			l.log.Warn("more failures of this kind", "outcome", string(c.outcome), "target", c.target, "status", c.status, "count", n)
		case ok:
			delete(l.failures, c)
		}
	}
}

// level returns the log level of an outcome. Failures always matter; successes matter only to a user who
// watches.
func (l recordLog) level(o scheduler.Outcome) slog.Level {
	switch {
	case o == scheduler.OutcomeFailed, o == scheduler.OutcomeFaulted:
		return slog.LevelWarn
	case l.watched:
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

func (l recordLog) wants(r *scheduler.Record) bool {
	return l.log.Enabled(context.Background(), l.level(r.Outcome))
}

func (l recordLog) print(r *scheduler.Record) {
	attrs := []slog.Attr{slog.String("outcome", string(r.Outcome)), slog.String("job", r.Job.String())}
	add := func(yes bool, a slog.Attr) {
		if yes {
			attrs = append(attrs, a)
		}
	}
	level, others := l.level(r.Outcome), 0
	if level == slog.LevelWarn {
		level, others = l.limit(r)
	}
	attempted := !r.Started.IsZero() && r.Outcome != scheduler.OutcomeFaulted // faulted repeats an attempt that was logged before
	add(r.Occurrence != "", slog.String("occurrence", r.Occurrence))
	add(attempted, slog.Int("attempt", r.Try))
	add(attempted && r.Phase == scheduler.ErrorPhase, slog.Bool("errorAction", true))
	add(level != slog.LevelInfo && r.Target != "", slog.String("target", r.Target))
	add(r.Status != 0, slog.Int("status", r.Status))
	add(attempted, slog.Duration("took", r.Duration.Round(time.Microsecond)))
	add(attempted, slog.Duration("late", r.Lateness().Round(time.Microsecond)))
	trace := r.Trace.ID()
	add(trace != "", slog.String("trace", trace))
	add(r.Count > 0, slog.Int("count", r.Count))
	add(r.Reason != "", slog.String("reason", string(r.Reason)))
	add(r.Outcome != scheduler.OutcomeCompleted && r.Message != "", slog.String("err", brief(r.Short())))
	add(others > 0, slog.Int("others", others))
	if attempted {
		l.log.LogAttrs(context.Background(), level, "attempt", attrs...)
		return
	}
	l.log.LogAttrs(context.Background(), level, "occurrence", attrs...)
}

// event is a history record as one line for people.
type event struct{ *client.Record }

// outcome is how the attempt or the occurrence ended.
func (e event) outcome() scheduler.Outcome { return scheduler.Outcome(strings.ToLower(e.Status)) }

// attempted reports whether an attempt was made, rather than only decided against.
func (e event) attempted() bool { return !e.Started.IsZero() && e.FaultedAt.IsZero() }

// at returns when the attempt started, or when the decision against it was made.
func (e event) at() time.Time {
	if e.attempted() {
		return e.Started
	}
	return cmp.Or(e.FaultedAt, e.Ended)
}

// colours maps outcomes to colors.
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

// repeated returns the scheduled time of the occurrence that a manual run repeats.
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
	add(e.outcome() == scheduler.OutcomeFaulted && e.Reason == "", "no retries left")
	add(e.Late, "late")
	add(e.Manual && e.Resubmits == "", "manual run")
	if e.Cause != nil {
		add(true, "by %s", e.Cause.Describe())
	}
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
