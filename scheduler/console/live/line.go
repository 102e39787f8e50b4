package live

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// line is a record as the page shows it.
type line struct {
	scheduler.RecordForm

	Sequence uint64
	Key      scheduler.Key
	Outcome  scheduler.Outcome
	At       time.Time
	Try      int // 0: it is none of an attempt
	Late     string
	Took     string
	Answer   string // in short
}

// lineOf returns the line of a record.
func lineOf(r *scheduler.Record) line {
	l := line{RecordForm: r.Form(), Sequence: r.Sequence, Key: r.Job, Outcome: r.Outcome, At: r.At(), Answer: answerOf(r)}
	if r.IsAttempt() {
		l.Try = r.Try
	}
	if l.Lateness != nil {
		l.Late = frame.Took(r.Lateness())
	}
	if l.Duration != nil {
		l.Took = frame.Took(r.Duration)
	}
	return l
}

// linesOf returns the lines of records.
func linesOf(records []*scheduler.Record) []line {
	lines := make([]line, len(records))
	for i, r := range records {
		lines[i] = lineOf(r)
	}
	return lines
}

// Path is where the job is shown.
func (l *line) Path() string { return frame.JobPath(l.Key) }

// RunPath is where all of the occurrence is shown: its attempts, and what each asked of its target.
func (l *line) RunPath() string {
	_, at, _ := strings.Cut(l.Occurrence, "@")
	return l.Path() + "/runs/" + at
}

// TraceShort is the beginning of the trace's id.
func (l *line) TraceShort() string { return l.Trace[:min(8, len(l.Trace))] }

// answerMost is how many characters of an answer stand in a line.
const answerMost = 120

// answerOf tells in a line what became of an attempt: the status and the beginning of the answer, or why there was none.
func answerOf(r *scheduler.Record) string {
	text := view.Answer(r)
	if utf8.RuneCountInString(text) > answerMost {
		text = string([]rune(text)[:answerMost-1]) + "…"
	}
	switch {
	case r.Count > 1 && r.Reason != "":
		text = strings.TrimSpace(fmt.Sprintf("× %s %s %s", frame.Number(r.Count), r.Reason, text))
	case r.Reason != "":
		text = strings.TrimSpace(string(r.Reason) + " " + text)
	}
	return text
}
