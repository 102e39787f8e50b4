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

// line is a record on the page.
type line struct {
	scheduler.RecordForm

	Sequence uint64
	Key      scheduler.Key
	Outcome  scheduler.Outcome
	At       time.Time
	Try      int // 0: not an attempt
	Late     string
	Took     string
	Answer   string // summary
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

// Path returns the path of the job's page.
func (l *line) Path() string { return frame.JobPath(l.Key) }

// RunPath returns the path of the occurrence's page.
func (l *line) RunPath() string {
	_, at, _ := strings.Cut(l.Occurrence, "@")
	return l.Path() + "/runs/" + at
}

// TraceShort returns the beginning of the trace's id.
func (l *line) TraceShort() string { return l.Trace[:min(8, len(l.Trace))] }

// answerMost limits an answer in a line, in characters.
const answerMost = 120

// answerOf summarizes an attempt in one line: the status and the beginning of the answer, or the cause of a missing
// answer.
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
