package live

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
)

// The rate limit of sent lines, so that the browser stays responsive and the page readable. Other lines are counted.
const (
	perTurn  = 25  // lines per turn, on average
	atOnce   = 200 // lines per event, after a pause
	lineRoom = atOnce
)

// tail buffers new records until they are sent. It is safe for concurrent use: the service fills it, and the request
// empties it. It is bounded: it keeps the newest records and counts the others.
type tail struct {
	mu      sync.Mutex
	records []*scheduler.Record // oldest first
	missed  int                 // number of older, dropped records
	passed  uint64              // sequence of the last record, matching or not
	credit  int                 // lines that may be sent
}

// add adds a record.
func (t *tail) add(r *scheduler.Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.records) == lineRoom {
		t.records = slices.Delete(t.records, 0, 1)
		t.missed++
	}
	t.records = append(t.records, r)
	t.passed = r.Sequence
}

// pass stores the sequence of a record that does not match.
func (t *tail) pass(sequence uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.passed = sequence
}

// batch is the content of one event.
type batch struct {
	records []*scheduler.Record // newest first
	Missed  int                 // number of older records that are not sent
	Before  uint64              // sequence of the oldest record; the missed ones precede it
	last    uint64              // the event covers all records up to this sequence
}

func (b *batch) empty() bool { return len(b.records) == 0 && b.Missed == 0 }

// take empties the tail. It is called once per turn.
func (t *tail) take() batch {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.credit = min(atOnce, t.credit+perTurn)
	over := max(0, len(t.records)-t.credit)
	sent := slices.Clone(t.records[over:])
	b := batch{Missed: t.missed + over, last: t.passed}
	t.credit -= len(sent)
	t.records, t.missed = t.records[:0], 0
	slices.Reverse(sent)
	b.records = sent
	if n := len(sent); n > 0 {
		b.Before = sent[n-1].Sequence
	}
	return b
}

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
	TraceURL string // "": none
	Ends     string // names the attempt of a failed run, for [folded]; "": none
}

// endOf names the attempt of a main action that failed, or that a faulted run ended with; "" for other records.
func endOf(r *scheduler.Record) string {
	failed := r.Outcome == scheduler.OutcomeFailed || r.Outcome == scheduler.OutcomeFaulted
	if r.Occurrence == "" || r.Phase != scheduler.MainPhase || !failed {
		return ""
	}
	return r.Occurrence + "#" + strconv.Itoa(r.Try)
}

// folded merges the end of a faulted run into its last attempt, if both are among the records, newest first: the history has
// both, with the same failure. The script does so for records that come separately.
func folded(records []*scheduler.Record) []*scheduler.Record {
	ends := map[string]*scheduler.Record{}
	all := slices.Clone(records)
	for i, r := range all {
		switch name := endOf(r); {
		case name == "":
		case r.Outcome == scheduler.OutcomeFaulted:
			ends[name] = r
		case ends[name] != nil:
			both, end := *r, ends[name]
			both.Outcome, both.FaultedAt = end.Outcome, end.FaultedAt
			all[i] = &both
			all[slices.Index(all, end)] = nil
		}
	}
	return slices.DeleteFunc(all, func(r *scheduler.Record) bool { return r == nil })
}

// lineOf returns the line of a record.
func lineOf(r *scheduler.Record, traces frame.TraceURL) line {
	l := line{RecordForm: r.Form(), Sequence: r.Sequence, Key: r.Job, Outcome: r.Outcome, At: r.At(), Answer: answerOf(r), Ends: endOf(r)}
	l.TraceURL = traces.Of(l.Trace)
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
func linesOf(records []*scheduler.Record, traces frame.TraceURL) []line {
	lines := make([]line, len(records))
	for i, r := range records {
		lines[i] = lineOf(r, traces)
	}
	return lines
}

// TraceShort returns the beginning of the trace's id.
func (l *line) TraceShort() string { return l.Trace[:min(8, len(l.Trace))] }

// answerMost limits an answer in a line, in characters.
const answerMost = 120

// answerOf summarizes an attempt in one line: the status and the beginning of the answer, or the cause of a missing
// answer.
func answerOf(r *scheduler.Record) string {
	text := v1.Answer(r)
	if utf8.RuneCountInString(text) > answerMost {
		text = string([]rune(text)[:answerMost-1]) + "…"
	}
	if r.Reason == "" {
		return text
	}
	why := words.Text("job.reason." + string(r.Reason))
	if r.Count > 1 {
		why = "× " + words.Number(r.Count) + " " + why
	}
	return strings.TrimSuffix(why+": "+text, ": ")
}

// rowsKept limits the cached rows: a second or more, as a browser gets at most 100 per second.
const rowsKept = 512

// rows caches the rendered rows of records for all readers. It is safe for concurrent use.
type rows struct {
	traces frame.TraceURL

	mu   sync.Mutex
	made map[place]string
	last [rowsKept]place // ring buffer of the rendered records
	at   int
}

// place identifies a record. The sequences of a lost and recreated history repeat.
type place struct {
	sequence uint64
	stored   time.Time
}

// of returns the row of a record.
func (o *rows) of(r *scheduler.Record) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	at := place{r.Sequence, r.Stored}
	if row, made := o.made[at]; made {
		return row, nil
	}
	l := lineOf(r, o.traces)
	row, err := frame.Written(templates, "row", &l)
	if err != nil {
		return "", err
	}
	if o.made == nil {
		o.made = map[place]string{}
	}
	delete(o.made, o.last[o.at])
	o.last[o.at], o.made[at] = at, row
	o.at = (o.at + 1) % rowsKept
	return row, nil
}

// all returns the data of an event: rows, newest first, then the number of missed records with a link to address.
func (o *rows) all(b *batch, address string) (string, error) {
	var out strings.Builder
	for _, r := range folded(b.records) {
		row, err := o.of(r)
		if err != nil {
			return "", err
		}
		out.WriteString(row)
	}
	if b.Missed > 0 {
		missed, err := frame.Written(templates, "missed", struct {
			Missed  int
			Address string
		}{b.Missed, address})
		if err != nil {
			return "", err
		}
		out.WriteString(missed)
	}
	return out.String(), nil
}
