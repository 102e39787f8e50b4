package natsapi_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/natsapi"
)

// TestVerbs follows one job through every verb.
func TestVerbs(t *testing.T) {
	w := newHarness(t)
	w.ingest()
	next := w.results()
	steps := []struct {
		subject, body string
		want          string // verdict, and what the event says
	}{
		{"put.default.job", later, "accepted created created=true revision next"},
		{"put.default.job", later, "accepted unchanged created=false revision next"},
		{"put.default.job", "startTime: 2098-01-01\naction: {type: http, request: {uri: 'http://x.example', method: get}}", "accepted updated created=false revision next"},
		{"patch.default.job", `{"startTime": "2097-01-01"}`, "accepted updated revision next"},
		{"run.default.job", "", "accepted occurrence"},
		{"run.default.job", "", "rejected Conflict: job default/job: conflict: it is running or about to run"},
		{"disable.default.job", "ignored", "accepted updated revision"},
		{"disable.default.job", "", "accepted unchanged revision"},
		{"run.default.job", "", "accepted occurrence"},
		{"delete.default.job", "", "accepted"},
		{"delete.default.job", "", "rejected ResourceNotFound: job default/job: not found"},
		{"patch.default.job", `{}`, "rejected ResourceNotFound: job default/job: not found"},
		{"run.default.job", "", "rejected ResourceNotFound: job default/job: not found"},
		{"enable.default.job", "", "rejected ResourceNotFound: job default/job: not found"},
		{"put.other.job", later, "rejected ResourceNotFound: collection other: not found; create it first"},
		{"put.default.job", `{"state": "disabled", ` + action + `}`, "accepted created created=true revision"},
		{"enable.default.job", "", "accepted updated revision next"},
		{"pause.default.job", `{"until": "2098-01-01T00:00:00Z"}`, "accepted updated revision next"},
		{"pause.default.job", `{"until": "2098-01-01T00:00:00Z"}`, "accepted unchanged revision next"},
		{"pause.default.job", `{}`, "rejected BadRequest: [until] is required"},
		{"resubmit.default.job", `{"occurrence": "2001-01-01T00:00:00Z"}`, "rejected ResourceNotFound: occurrence default/job@2001-01-01T00:00:00Z: not found in the history of its job"},
		{"put.default.never", `{"recurrence": {"cron": "0 9 31 2 *"}, ` + action + `}`, "accepted created created=true revision over warning: recurrence.cron"},
		{"patch.default.never", `{"timeZone": "Asia/Tokyo"}`, "accepted updated revision over warning: recurrence.cron"},
	}
	for i, s := range steps {
		w.publish(s.subject, s.body)
		e := next()
		if got := e.summary(); got != s.want {
			t.Errorf("step %d: %s: got %s, want %s", i+1, s.subject, got, s.want)
		}
		verb, _, _ := strings.Cut(s.subject, ".")
		if e.Verb != verb || e.Sequence != uint64(i+1) || e.Time.IsZero() || e.Subject != e.Verdict+strings.TrimPrefix(s.subject, verb) {
			t.Errorf("step %d: %+v", i+1, e)
		}
	}
}

// summary says what an event holds.
func (e *event) summary() string {
	s := e.Verdict
	if e.Result != "" {
		s += " " + string(e.Result)
	}
	if e.Created != nil {
		s += fmt.Sprintf(" created=%v", *e.Created)
	}
	if e.Superseded {
		s += " superseded"
	}
	if strings.HasPrefix(e.Occurrence, e.Job+"@") {
		s += " occurrence"
	}
	if e.Revision > 0 {
		s += " revision"
	}
	if e.Next != "" {
		s += " next"
	}
	if e.Message != "" {
		s += " over"
	}
	if len(e.Warnings) > 0 {
		s += " warning: " + e.Warnings[0].Path
	}
	if e.Error != nil {
		s += " " + e.Error.String()
	}
	return s
}

// TestSameID: an ID tells specs of one subject apart, also after a restart, and nothing of other subjects.
func TestSameID(t *testing.T) {
	w := newHarness(t)
	next := w.results()
	if _, _, err := w.service.PutCollection(w.ctx, "other", []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	disabled := `{"state": "disabled", ` + action + `}`
	for i, s := range []struct {
		subject, body, id string
		restart           bool
		want              string
		of                uint64
	}{
		{"put.default.job", later, "1", true, "accepted created created=true revision next", 0},
		{"put.other.job", later, "1", false, "accepted created created=true revision next", 0},
		{"put.default.job", disabled, "1", false, "accepted created created=true revision next", 1},
		{"put.default.job", disabled, "2", false, "accepted updated created=false revision", 0},
		{"put.default.job", later, "1", true, "accepted created created=true revision next", 1},
		{"put.default.job", disabled, "", false, "accepted unchanged created=false revision", 0},
		{"run.default.job", "", "1", false, "accepted occurrence", 0},
		{"run.default.job", "", "1", true, "accepted occurrence", 7},
		{"delete.other.none", "", "1", false, "rejected ResourceNotFound: job other/none: not found", 0},
		{"delete.other.none", "", "1", false, "rejected ResourceNotFound: job other/none: not found", 9},
	} {
		w.publish(s.subject, s.body, jetstream.WithMsgID(s.id))
		if s.restart {
			w.ingest()() // of nothing, or of a part
			w.store, w.service = w.open()
		}
		stop := w.ingest()
		if e := next(); e.summary() != s.want || e.Duplicate != s.of || e.Sequence != uint64(i+1) {
			t.Errorf("step %d: %s of %d, want %s of %d", i+1, e.summary(), e.Duplicate, s.want, s.of)
		}
		w.awaitNoSpecs()
		stop()
	}
}

// TestMalformedSubjects publishes to subjects that name no job or no verb.
func TestMalformedSubjects(t *testing.T) {
	w := newHarness(t)
	w.ingest()
	next := w.results()
	long := strings.Repeat("x", 3800)
	tests := []struct{ subject, result, want string }{
		{"putt.default.job", "rejected.default.job", `[verb] "putt" is not one of delete, disable, enable, patch, pause, put, resubmit, run`},
		{"PUT.default.job", "rejected.default.job", `[verb] "PUT" is not one of`},
		{"put", "rejected", `[collection] must not be empty [job] must not be empty`},
		{"put.default", "rejected.default", `[job] must not be empty`},
		{"run.default.my.job", "rejected.default.my.job", `[job] "my.job" must not contain '.'`},
		{"put.1st.2nd", "rejected.1st.2nd", `[collection] "1st" must begin with a letter [job] "2nd" must begin with a letter`},
		{"x.1st.a.b", "rejected.1st.a.b", `[verb] "x" is not one of delete, disable, enable, patch, pause, put, resubmit, run [collection] "1st" must begin with a letter [job] "a.b" must not`},
		{"put.default.*", "rejected.default._", `[job] "*" must begin with a letter`},
		{"put.default.a>b", "rejected.default.a_b", `[job] "a>b" must not contain '>'`},
		{"put.default.ä", "rejected.default.ä", `[job] "ä" must begin with a letter a to z`},
		{"put.default." + long, "rejected.default." + long[:248], `[job] is 3800 characters long, at most 100 are allowed`},
		{"delete." + long + ".job", "rejected." + long[:256], `[collection] is 3800 characters long`},
	}
	for _, test := range tests {
		w.publish(test.subject, later)
		e := next()
		if e.Subject != test.result || !strings.Contains(e.Error.String(), "BadRequest: "+test.want) {
			t.Errorf("%.40s:\ngot  %s %v\nwant %s %s", test.subject, e.Subject, e.Error, test.result, test.want)
		}
	}
}

// TestLargeSpec publishes a spec of a megabyte, and a patch.
func TestLargeSpec(t *testing.T) {
	w := newHarness(t)
	w.ingest()
	next := w.results()
	body := `{"description": "` + strings.Repeat("x", 1_000_000) + `"}`
	for _, subject := range []string{"put.default.job", "patch.default.job", "run.default.job"} {
		w.publish(subject, body)
		want := fmt.Sprintf("rejected BadRequest: [] the document is %d bytes long, at most 16384 (16 KB) are allowed", len(body))
		if e := next(); e.summary() != want {
			t.Errorf("%s: got %s, want %s", subject, e.summary(), want)
		}
	}
	w.publish("enable.default.job", body) // the body is ignored
	if e := next(); !strings.Contains(e.summary(), "ResourceNotFound") {
		t.Errorf("enable: %s", e.summary())
	}
}

// TestOrder publishes sequences of specs that make sense in their order only,
// for many jobs at once, to two processes.
func TestOrder(t *testing.T) {
	w := newHarness(t)
	const jobs, rounds = 40, 3
	for round := range rounds {
		for _, step := range []struct{ verb, body string }{
			{"put", later},
			{"patch", fmt.Sprintf(`{"description": "%d"}`, round)},
			{"disable", ""},
			{"patch", `{"labels": {"a": "b"}}`},
			{"enable", ""},
			{"delete", ""},
		} {
			for j := range jobs {
				must.Get(w.js.PublishAsync(fmt.Sprintf("carillon.spec.%s.default.j%d", step.verb, j), []byte(step.body)))(t)
			}
		}
	}
	for j := range jobs {
		w.publish(fmt.Sprintf("put.default.j%d", j), later)
		w.publish(fmt.Sprintf("patch.default.j%d", j), `{"description": "last"}`)
	}
	next := w.results()
	w.ingest()
	w.ingest(func(c *natsapi.IngestConfig) { c.Source, c.Service = w.open() })
	sequences := map[string][]uint64{}
	for range jobs * (6*rounds + 2) {
		e := next()
		if e.Verdict != "accepted" || e.Superseded {
			t.Errorf("%s %s: %s", e.Verb, e.Job, e.summary())
		}
		sequences[e.Job] = append(sequences[e.Job], e.Sequence)
	}
	for job, s := range sequences {
		if !slices.IsSorted(s) {
			t.Errorf("%s: results in the order of %v", job, s)
		}
	}
	for j := range jobs {
		v, err := w.service.Get(w.ctx, scheduler.Key{Collection: "default", Job: fmt.Sprintf("j%d", j)})
		if err != nil || v.Job.State != scheduler.Enabled || v.Job.Def.Description != "last" || v.Job.Def.Labels != nil {
			t.Errorf("j%d: %+v, %v", j, v, err)
		}
	}
	w.awaitNoSpecs()
}

// asked counts how often the stream is asked for the first spec of a name.
type asked struct {
	natsapi.Source

	names atomic.Int64
}

func (a *asked) IsFirstSpec(ctx context.Context, name string, sequence uint64) (bool, error) {
	a.names.Add(1)
	return a.Source.IsFirstSpec(ctx, name, sequence)
}

// TestOneProcessAsksForNoOrder takes in specs that come to one process alone, which knows their order.
func TestOneProcessAsksForNoOrder(t *testing.T) {
	w := newHarness(t)
	source := &asked{Source: w.store}
	w.ingest(func(c *natsapi.IngestConfig) { c.Source = source })
	next := w.results()
	w.publish("put.default.first", later)
	next()
	before := source.names.Load()
	const many = 50
	for j := range many {
		w.publish(fmt.Sprintf("put.default.j%d", j), later)
	}
	for range many {
		if e := next(); e.Verdict != "accepted" {
			t.Error(e.summary())
		}
	}
	if n := source.names.Load() - before; n > 0 {
		t.Errorf("the stream was asked %d times", n)
	}
}

// awaitNoSpecs waits until every spec is done with.
func (w *harness) awaitNoSpecs() {
	w.tb.Helper()
	w.await("the specs to be removed", func() bool {
		st, err := w.js.Stream(w.ctx, "CARILLON_SPECS")
		return err == nil && st.CachedInfo().State.Msgs == 0
	})
}

// hold has a process of its own take the next spec, which that renews until giveBack.
func (w *harness) hold() (giveBack func()) {
	w.tb.Helper()
	holder, _ := w.open()
	held := make(chan scheduler.PublishedSpec, 1)
	var room atomic.Int64
	room.Store(1)
	w.background(func(ctx context.Context) error {
		return holder.DeliverSpecs(ctx, nil, func() int { return int(room.Load()) }, func(s scheduler.PublishedSpec) {
			room.Add(-1)
			held <- s
		})
	})
	w.await("a spec to hold", func() bool { return len(held) > 0 })
	return func() {
		if err := (<-held).Lease.Nak(0); err != nil {
			w.tb.Error(err)
		}
	}
}

// delivered waits until the server has handed out n specs.
func (w *harness) delivered(n int) {
	w.tb.Helper()
	w.await("the delivery of specs", func() bool {
		c, err := w.js.Consumer(w.ctx, "CARILLON_SPECS", "workers")
		return err == nil && c.CachedInfo().NumAckPending >= n
	})
}

// TestWaitsForEarlierSpec has a delete arrive while the put before it is in the
// hands of a dead process.
func TestWaitsForEarlierSpec(t *testing.T) {
	w := newHarness(t)
	next := w.results()
	w.publish("put.default.job", later)
	giveBack := w.hold()
	w.ingest()
	w.publish("delete.default.job", "")
	w.publish("put.default.other", later)
	if e := next(); e.Job != "default/other" { // nothing keeps other jobs waiting
		t.Errorf("first result: %+v", e)
	}
	w.delivered(2)
	giveBack()
	for _, want := range []string{"put accepted created created=true revision next", "delete accepted"} {
		if e := next(); e.Verb+" "+e.summary() != want {
			t.Errorf("got %s %s, want %s", e.Verb, e.summary(), want)
		}
	}
}

// TestSuperseded has specs arrive when a later one has written the job, as
// when their process hung in the middle.
func TestSuperseded(t *testing.T) {
	w := newHarness(t)
	w.ingest()
	next := w.results()
	k := scheduler.Key{Collection: "default", Job: "job"}
	before, _, err := w.service.Put(w.ctx, control.Edit{Key: k, Body: []byte(later), SpecSequence: 100})
	if err != nil {
		t.Fatal(err)
	}
	for subject, want := range map[string]string{
		"put.default.job":     "accepted unchanged created=false superseded revision next",
		"patch.default.job":   "accepted unchanged superseded revision next",
		"disable.default.job": "accepted unchanged superseded revision next",
		"delete.default.job":  "rejected Conflict: job default/job: conflict: a later spec put it again",
	} {
		w.publish(subject, `{"description": "old", `+action+`}`)
		if e := next(); e.summary() != want {
			t.Errorf("%s: got %s, want %s", subject, e.summary(), want)
		}
	}
	after, err := w.service.Get(w.ctx, k)
	if err != nil || after.Job.Revision != before.Job.Revision {
		t.Errorf("got %+v, %v", after, err)
	}
}

// faulty is a source that does not store some results.
type faulty struct {
	natsapi.Source

	refuses func(body string) bool
	refused chan string // the results

	mu    sync.Mutex
	taken []uint64 // sequences, in order of delivery
}

func newFaulty(source natsapi.Source, refuses func(body string) bool) *faulty {
	return &faulty{Source: source, refuses: refuses, refused: make(chan string, 1000)}
}

// DeliverSpecs notes what is delivered.
func (f *faulty) DeliverSpecs(ctx context.Context, wake <-chan struct{}, room func() int, take func(scheduler.PublishedSpec)) error {
	return f.Source.DeliverSpecs(ctx, wake, room, func(s scheduler.PublishedSpec) {
		f.mu.Lock()
		f.taken = append(f.taken, s.Sequence)
		f.mu.Unlock()
		take(s)
	})
}

// PublishResult refuses what it is to refuse.
func (f *faulty) PublishResult(ctx context.Context, verdict, name string, body []byte) error {
	if f.refuses(string(body)) {
		f.refused <- string(body)
		return fmt.Errorf("%w: the test says so", scheduler.ErrUnavailable)
	}
	return f.Source.PublishResult(ctx, verdict, name, body)
}

func (f *faulty) deliveries() []uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.taken)
}

// TestUnavailable lets the store be away: the spec is kept and tried again.
func TestUnavailable(t *testing.T) {
	w := newHarness(t)
	left := 2
	source := newFaulty(w.store, func(string) bool { left--; return left >= 0 })
	w.ingest(func(c *natsapi.IngestConfig) { c.Source = source })
	next := w.results()
	w.publish("put.default.job", later)
	if e := next(); e.Verdict != "accepted" {
		t.Errorf("got %s", e.summary())
	}
	w.awaitNoSpecs()
	if got := source.deliveries(); len(source.refused) != 2 || len(got) != 1 {
		t.Errorf("%d results refused, deliveries %v", len(source.refused), got)
	}
}

// TestResubmit resubmits a failed occurrence by a spec, whose process stops before its result is stored. The next process
// finds it done, also when the run has ended in the meantime.
func TestResubmit(t *testing.T) {
	w := newHarness(t)
	next := w.results()
	k := scheduler.Key{Collection: "default", Job: "job"}
	if _, _, err := w.service.Put(w.ctx, control.Edit{Key: k, Body: []byte(later)}); err != nil {
		t.Fatal(err)
	}
	st := must.Get(w.store.LoadJob(w.ctx, k))(t)
	nominal := w.store.Now().UTC().Truncate(time.Second)
	failed := scheduler.OccurrenceID(k, nominal)
	timers := must.Get(w.js.Stream(w.ctx, "CARILLON_TIMERS_0"))(t)
	record := func(r scheduler.Record) {
		t.Helper()
		r.Job, r.UID, r.Started, r.Ended = k, scheduler.StoredIncarnation(st.Data), w.store.Now(), w.store.Now()
		must.Do(t, w.store.Append(w.ctx, &r))
	}
	record(scheduler.Record{Occurrence: failed, Nominal: nominal, Due: nominal, Outcome: scheduler.OutcomeFaulted})
	last := func() uint64 {
		t.Helper()
		info := must.Get(timers.Info(w.ctx))(t)
		return info.State.LastSeq
	}
	purge := func() {
		t.Helper()
		must.Do(t, timers.Purge(w.ctx, jetstream.WithPurgeSubject("carillon.fire.>")))
	}
	for _, state := range []scheduler.State{scheduler.Enabled, scheduler.Disabled} {
		for _, ended := range []bool{false, true} {
			must.Get(w.service.SetEnabled(w.ctx, k, state, 0))(t)
			w.publish("resubmit.default.job", `{"occurrence": "`+failed+`"}`)
			source := newFaulty(w.store, func(string) bool { return true })
			stop := w.ingest(func(c *natsapi.IngestConfig) { c.Source = source })
			first := <-source.refused
			stop()
			if _, asked, ok := strings.Cut(first, `"occurrence":"default/job@`); ended && ok {
				asked, _, _ = strings.Cut(asked, `"`)
				at := must.Get(time.Parse(time.RFC3339Nano, asked))(t)
				record(scheduler.Record{
					Occurrence: scheduler.OccurrenceID(k, at), Nominal: at, Due: at, Outcome: scheduler.OutcomeFaulted,
					Resubmits: &scheduler.Resubmission{Nominal: nominal},
				})
				purge()
			}
			before := last()
			stop = w.ingest()
			e := next()
			w.awaitNoSpecs()
			stop()
			if e.summary() != "accepted occurrence" || e.Resubmits != failed || !strings.Contains(first, e.Occurrence) {
				t.Errorf("%s, ended: %v: got %s of %s, which repeats %s, after %s", state, ended, e.summary(), e.Occurrence, e.Resubmits, first)
			}
			if now := last(); now != before {
				t.Errorf("%s, ended: %v: the job ran again: sequence %d after %d", state, ended, now, before)
			}
			purge()
		}
	}
}

// TestRepeatedAfterStop stops a process after it has carried out a spec and
// before its result is stored. The next process has the spec at once, and
// finds it done.
func TestRepeatedAfterStop(t *testing.T) {
	w := newHarness(t)
	next := w.results()
	for _, step := range []struct{ subject, want string }{
		{"put.default.job", "accepted unchanged created=false revision next"},
		{"patch.default.job", "accepted unchanged revision next"},
		{"run.default.job", "accepted occurrence"},
		{"disable.default.job", "accepted unchanged revision"},
		{"run.default.job", "accepted occurrence"},
		{"enable.default.job", "accepted unchanged revision next"},
		{"delete.default.job", "accepted"},
	} {
		body := later
		if strings.HasPrefix(step.subject, "run.") {
			body = `{"data": {}}`
		}
		w.publish(step.subject, body, jetstream.WithMsgID("the same for every subject"+body))
		source := newFaulty(w.store, func(string) bool { return true })
		stop := w.ingest(func(c *natsapi.IngestConfig) { c.Source = source })
		first := <-source.refused
		stop()
		stop = w.ingest()
		e := next()
		stop()
		if e.summary() != step.want {
			t.Errorf("%s: got %s, want %s", step.subject, e.summary(), step.want)
		}
		if !strings.Contains(first, e.Occurrence) {
			t.Errorf("%s: occurrence %s after %s", step.subject, e.Occurrence, first)
		}
	}
}
