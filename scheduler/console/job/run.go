package job

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/console/command"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/console/records"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// run is an occurrence, or a set of skipped times, as its records describe it.
type run struct {
	Anchor     string // id of its element
	Occurrence string // "": none, for example a time in a DST gap
	Nominal    time.Time
	State      string // name of its mark
	Late       time.Duration
	Started    time.Time     // start of the first attempt; zero: none
	Took       time.Duration // until the end of the last attempt
	Retries    int           // of the main action
	Manual     bool
	Resubmits  string // the occurrence that it repeats
	Data       string // the values for its templates, as JSON
	Cause      *scheduler.Cause
	Trace      string
	TraceURL   string    // "": none
	Attempts   []attempt // oldest first
	Missing    int       // earlier attempts, in other records
	Left       *leftOut  // skipped times; nil: the occurrence ran
	Why        string    // summary of the last failure, else of the last record with one
	FaultedAt  time.Time
	Canceled   bool

	newest uint64 // sequence of its newest record
	failed bool   // Why describes a failed attempt
	whole  bool   // for its page
}

// leftOut is a number of skipped times.
type leftOut struct {
	Reason   string
	From, To time.Time
	Count    int
	Decided  time.Time
}

// attempt is one attempt of an action.
type attempt struct {
	Record      *scheduler.Record
	Pause       time.Duration // since the end of the previous attempt
	Late        time.Duration
	ErrorAction bool
	Deferred    bool // it did not start because of the target or the collection
	Request     string
	Edited      bool    // the job has changed since: the request is the current one
	Curl        string  // the command of the request, on the page of the run; "": not over HTTP
	Said        excerpt // the result in addition to the answer
	Headers     string  // of the answer
	Response    excerpt
	Tree        *fold // the response, on the page of the run, if it is JSON; nil: none
}

// excerpt is the beginning of a text.
type excerpt struct {
	Text string
	Size int64
	Cut  bool
}

// lateFrom is the minimum lateness that the page shows.
const lateFrom = time.Second

// excerptLength limits a text in a list, in bytes, so that pages stay small.
const excerptLength = 320

func excerptOf(text string, most int) excerpt {
	begin := scheduler.CutText(text, most)
	return excerpt{Text: begin, Size: int64(len(text)), Cut: len(begin) < len(text)}
}

// fold is a value of a JSON response, which a page folds.
type fold struct {
	Name  string // of the field; "": the whole response
	Text  string // of a value without a part, or the number of parts
	Parts []fold
}

// Limits of a folded response. Deeper and later values are texts.
const (
	mostFolds = 300
	foldDepth = 6
)

// foldedJSON returns a complete JSON response as parts; nil for another one.
func foldedJSON(e excerpt) *fold {
	if text := strings.TrimSpace(e.Text); e.Cut || !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return nil
	}
	v, err := document.Parse([]byte(e.Text))
	if err != nil {
		return nil
	}
	left := mostFolds
	n := foldOf("", v, 0, &left)
	if n.Parts == nil {
		return nil
	}
	return &n
}

func foldOf(name string, v document.Value, depth int, left *int) fold {
	n := fold{Name: name}
	*left--
	size := len(v.Members()) + len(v.Items())
	if size == 0 || depth == foldDepth || size > *left {
		n.Text = excerptOf(v.String(), memberLength).Text
		return n
	}
	for _, m := range v.Members() {
		n.Parts = append(n.Parts, foldOf(m.Name, m.Value, depth+1, left))
	}
	for i, item := range v.Items() {
		n.Parts = append(n.Parts, foldOf(strconv.Itoa(i), item, depth+1, left))
	}
	if n.Text = fmt.Sprintf("{%d}", size); v.Kind() == document.KindArray {
		n.Text = fmt.Sprintf("[%d]", size)
	}
	return n
}

// runsOf groups records, newest first, by occurrence. most limits a shown text, in bytes.
func runsOf(records []*scheduler.Record, most int) []*run {
	var all []*run
	byName := map[string]*run{}
	for _, r := range records {
		name := r.Job.String() + " " + r.Occurrence
		if r.Occurrence == "" {
			name = fmt.Sprintf("%s %s %d", r.Job, r.Reason, r.Sequence)
		}
		one := byName[name]
		if one == nil {
			h := fnv.New64a()
			_, _ = h.Write([]byte(name))
			one = &run{
				Anchor: fmt.Sprintf("o-%x", h.Sum64()), Occurrence: r.Occurrence, Nominal: r.Nominal.UTC(),
				newest: r.Sequence, whole: most > excerptLength,
			}
			byName[name] = one
			all = append(all, one)
		}
		one.add(r, most)
	}
	for _, one := range all {
		one.finish()
	}
	return all
}

// add adds the next older record.
func (o *run) add(r *scheduler.Record, most int) {
	o.Manual = o.Manual || r.Kind.IsManual()
	o.Trace = cmp.Or(o.Trace, r.Trace.ID())
	o.Resubmits = cmp.Or(r.Form().Resubmits, o.Resubmits)
	o.Data = cmp.Or(string(r.Data), o.Data)
	o.Cause = cmp.Or(r.Cause, o.Cause)
	o.explain(r)
	mainFailed := r.Phase == scheduler.ErrorPhase && r.Outcome == scheduler.OutcomeCompleted // the main action's outcome is decisive
	if !mainFailed && ranks[r.Outcome] > ranks[scheduler.Outcome(o.State)] {
		o.State = string(r.Outcome)
	}
	switch {
	case r.Outcome == scheduler.OutcomeFaulted:
		o.FaultedAt = r.FaultedAt.UTC()
	case r.IsAttempt():
		a := attempt{
			Record: r, ErrorAction: r.Phase == scheduler.ErrorPhase, Deferred: r.Outcome == scheduler.OutcomePostponed,
			Said: excerptOf(r.Short(), most), Headers: r.Headers, Response: excerptOf(r.Response, most),
		}
		if o.whole {
			a.Tree = foldedJSON(a.Response)
		} else {
			a.Headers = "" // the page of the run shows them
		}
		if !a.Deferred && r.Lateness() >= lateFrom {
			a.Late = r.Lateness()
		}
		o.Attempts = append(o.Attempts, a)
	default:
		o.Left = &leftOut{string(r.Reason), r.From.UTC(), r.To.UTC(), r.Count, r.Ended.UTC()}
	}
}

// explain updates the cause of the result from the next older record. The last failure of the main action is the best
// one, because it has the answer. A cancellation names its caller.
func (o *run) explain(r *scheduler.Record) {
	o.Canceled = o.Canceled || r.Reason == scheduler.ReasonCanceled
	failure := o.Canceled || r.Outcome == scheduler.OutcomeFailed && r.Phase == scheduler.MainPhase
	if o.Why != "" && (o.failed || !failure) {
		return
	}
	o.Why, o.failed = excerptOf(v1.Answer(r), excerptLength/2).Text, failure
}

// ranks rank outcomes by how well they describe the whole occurrence.
var ranks = map[scheduler.Outcome]int{
	scheduler.OutcomeFaulted: 4, scheduler.OutcomeCompleted: 3, scheduler.OutcomeFailed: 2, scheduler.OutcomePostponed: 1,
	scheduler.OutcomeSkipped: 1,
}

// stateChanges are the edits of a job that keep its action.
var stateChanges = []string{"enable", "disable", "pause"}

// ask adds the requests of the attempts according to the current job; nil if it is missing or unreadable.
func (o *run) ask(j *scheduler.Job) {
	if j == nil || j.Def == nil {
		return
	}
	all := v1.Requests(j.Def.Document())
	for i := range o.Attempts {
		a := &o.Attempts[i]
		form := a.Record.Form()
		if r, ok := v1.RequestOf(all, &form); ok && r.Type == a.Record.Type {
			a.Request, a.Edited = r.Shown(), a.Record.Started.Before(j.Updated) && !slices.Contains(stateChanges, j.Origin.Op)
			if request := jobform.At(j.Def.Document(), r.Path+".request"); o.whole && request.Kind() == document.KindObject {
				a.Curl = command.Request(r.ShownURI(), request)
			}
		}
	}
}

// finish derives the fields that depend on all records.
func (o *run) finish() {
	slices.Reverse(o.Attempts)
	if o.State == "" && len(o.Attempts) > 0 { // error action only, because of a filter
		o.State = string(o.Attempts[0].Record.Outcome)
	}
	var ended time.Time
	first := true
	for i := range o.Attempts {
		a := &o.Attempts[i]
		if a.Deferred {
			continue
		}
		r := a.Record
		if first {
			o.Started, o.Late, o.Missing, first = r.Started.UTC(), a.Late, r.Try-1, false
		}
		if !ended.IsZero() && r.Started.After(ended) {
			a.Pause = r.Started.Sub(ended)
		}
		ended = r.Ended
		o.Took = ended.Sub(o.Started)
		if !a.ErrorAction {
			o.Retries = max(o.Retries, r.Attempt)
		}
	}
	o.Missing = max(0, o.Missing)
}

// Resubmittable reports whether the run can be resubmitted.
func (o *run) Resubmittable() bool {
	return o.Occurrence != "" && o.State != "" && scheduler.Outcome(o.State) != scheduler.OutcomeCompleted
}

// Tried returns the number of attempts.
func (o *run) Tried() int {
	n := o.Missing
	for _, a := range o.Attempts {
		if !a.Deferred {
			n++
		}
	}
	return n
}

// At returns the instant of the run, as in the URL of its page.
func (o *run) At() string { return instantOf(o.Occurrence) }

// Link returns the path of its page; "" for none.
func (o *run) Link() string {
	if o.Occurrence == "" {
		return ""
	}
	return frame.Address(frame.RunPath(o.Occurrence), nil, records.Before, strconv.FormatUint(o.Before(), 10))
}

// CausePath returns the path of the run that started it, "" for none.
func (o *run) CausePath() string {
	if o.Cause == nil || o.Cause.Upstream == "" {
		return ""
	}
	return frame.RunPath(o.Cause.Upstream)
}

// instantOf returns the instant in the id of an occurrence.
func instantOf(occurrence string) string {
	_, at, _ := strings.Cut(occurrence, "@")
	return at
}

// Before returns the history position from which its page reads backward.
func (o *run) Before() uint64 { return o.newest + 1 }

// whole removes the oldest occurrence of a page if the next page has the rest of its records, and returns the start of
// the next page. An occurrence is on one page, unless it fills a page.
func whole(records []*scheduler.Record, next uint64) ([]*scheduler.Record, uint64) {
	if next == 0 || len(records) == 0 {
		return records, next
	}
	last := records[len(records)-1]
	same := func(r *scheduler.Record) bool { return r.Occurrence == last.Occurrence }
	cut := len(records)
	for cut > 0 && same(records[cut-1]) && last.Occurrence != "" {
		cut--
	}
	if cut == 0 || cut == len(records) || last.Try <= 1 || slices.ContainsFunc(records[:cut], same) {
		return records, next
	}
	return records[:cut], records[cut-1].Sequence
}
