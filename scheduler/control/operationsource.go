package control

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
)

// item is a job, or an occurrence of a job, that an operation processes.
type item struct {
	key     scheduler.Key
	nominal time.Time // of an occurrence
	uid     string    // of its job; set only with nominal
	failure *failure  // of an occurrence

	job  *scheduler.Job // as stored, with its last edit in the audit log; nil: not read yet
	idle bool           // the job has no active occurrence
}

// page returns the next items of an operation. cursor is the start of the following page, "" after the last one.
func (o OperationKeeper) page(ctx context.Context, op *operation, again *reruns, size int) (items []item, cursor string, err error) {
	if op.Verb == v1.VerbResubmit {
		return o.failed(ctx, op, again, size)
	}
	if op.Jobs != nil {
		at, _ := strconv.Atoi(op.Cursor)
		end := min(at+size, len(op.Jobs))
		names, err := o.filtered(ctx, op, op.Jobs[at:end])
		for _, name := range names {
			k, _ := keyOf(name)
			items = append(items, item{key: k})
		}
		if end < len(op.Jobs) {
			cursor = strconv.Itoa(end)
		}
		return items, cursor, err
	}
	q, err := op.query(ctx)
	if err != nil {
		return nil, "", err
	}
	var edits []*storedEdit
	for next := (&v1.Page{After: op.Cursor}); next != nil && len(items) < size; {
		var views []*v1.Job
		views, next, err = o.reads.Search(ctx, q, v1.Page{Top: min(size-len(items), v1.MaxPage), After: next.After})
		if err != nil {
			return nil, "", err
		}
		for _, v := range views {
			it := item{key: v.Job.Key}
			if v.Job.State != scheduler.Damaged {
				it.job, edits = v.Job, append(edits, lastEdit(v.Job))
				it.idle = !v.Status.Running && v.Status.Retry == 0 && v.Job.Def.Overlap != scheduler.OverlapAllow
			}
			items = append(items, it)
		}
		if cursor = ""; next != nil {
			cursor = next.After
		}
	}
	return items, cursor, o.shared.ensureRecorded(ctx, edits...)
}

// filtered returns the named jobs that match the filter of an operation, if it has one, and that its caller may see.
func (o OperationKeeper) filtered(ctx context.Context, op *operation, names []string) ([]string, error) {
	if op.Filter == "" {
		return names, nil
	}
	q, err := op.query(ctx)
	if err != nil {
		return nil, err
	}
	matches := []string{}
	for chunk := range slices.Chunk(names, v1.MaxPage) {
		var keys []scheduler.Key
		for _, name := range chunk {
			if k, _ := keyOf(name); q.Within(k.Collection) {
				keys = append(keys, k)
			}
		}
		jobs, err := o.reads.some(ctx, keys, &q)
		if err != nil {
			return nil, err
		}
		for _, v := range jobs {
			matches = append(matches, v.Job.Key.String())
		}
	}
	return matches, nil
}

// query returns the search of an operation, limited to the jobs that its caller may see.
func (op *operation) query(ctx context.Context) (scheduler.JobQuery, error) {
	q, err := op.Query(op.Created)
	if op.Collection != "" {
		q.Collections = []string{op.Collection}
	}
	if op.Verb == v1.VerbResubmit {
		q.Target = "" // it selects occurrences: the job may call another target now
	}
	q.Sees = auth.Sees(ctx)
	return q, err
}

// failure holds the records of a failed occurrence, up to a sequence.
type failure struct {
	fault, rerun *scheduler.Record // the successful rerun, otherwise the last one; nil: none
	next         uint64            // of the first unread record
}

// reruns holds the runs that repeat an occurrence, from the start of an operation's period until now. They are read
// once, because searching the history of a job for each of its occurrences takes too long.
type reruns struct {
	next uint64 // sequence of the first unread record
	of   map[occurrence]*scheduler.Record
}

// occurrence identifies an occurrence across all incarnations of a job.
type occurrence struct {
	key     scheduler.Key
	nominal int64 // Unix nanoseconds
}

// read reads the records that were added since the last call. The first call starts at a sequence.
func (a *reruns) read(ctx context.Context, history scheduler.History, collection string, from uint64) error {
	if a.of == nil {
		a.of = map[occurrence]*scheduler.Record{}
	}
	a.next = max(a.next, from)
	return history.RecordsFrom(ctx, scheduler.Key{Collection: collection}, a.next, func(r *scheduler.Record) bool {
		a.next = r.Sequence + 1
		if r.Resubmits == nil {
			return true
		}
		of := occurrence{r.Job, r.Resubmits.Nominal.UnixNano()}
		if old := a.of[of]; old == nil || old.UID != r.UID || !old.Succeeded() || r.Succeeded() {
			a.of[of] = &scheduler.Record{
				Job: r.Job, UID: r.UID, Occurrence: r.Occurrence, Outcome: r.Outcome, Phase: r.Phase,
				Started: r.Started, Ended: r.Ended, Resubmits: r.Resubmits,
			}
		}
		return true
	})
}

// succeeded sets the rerun of an occurrence, and reports whether it started before an instant and succeeded.
func (a *reruns) succeeded(it item, before time.Time) bool {
	it.failure.next = a.next
	r := a.of[it.occurrence()]
	if r == nil || r.UID != it.uid {
		return false
	}
	it.failure.rerun = r
	return r.Succeeded() && r.Started.Before(before)
}

// failedReach limits the records that are examined for a page of failed occurrences.
const failedReach = 50_000

// failed returns occurrences that faulted in the period of an operation, in order of failure, without those that a
// rerun before it repeated successfully. The cursor is the sequence of the record after which the next page starts.
func (o OperationKeeper) failed(ctx context.Context, op *operation, again *reruns, size int) (items []item, cursor string, err error) {
	q, err := op.query(ctx)
	if err != nil {
		return nil, "", err
	}
	from, err := o.firstFailed(ctx, op)
	if from == 0 || err != nil {
		return nil, "", err
	}
	seen, last, known := 0, from, map[occurrence]bool{}
	var found []item
	err = o.shared.Store.RecordsFrom(ctx, scheduler.Key{Collection: op.Collection}, from, func(r *scheduler.Record) bool {
		if r.Stored.After(op.FailedUntil) {
			last = 0
			return false
		}
		seen, last = seen+1, r.Sequence
		if r.Outcome == scheduler.OutcomeFaulted && q.Within(r.Job.Collection) &&
			(op.Target == "" || scheduler.IsTarget(r.Target, op.Target)) && (op.Jobs == nil || slices.Contains(op.Jobs, r.Job.String())) {
			it := item{key: r.Job, nominal: r.Nominal, uid: r.UID, failure: &failure{fault: r}}
			if r.Resubmits != nil {
				it.nominal = r.Resubmits.Nominal
			}
			if of := it.occurrence(); !known[of] {
				known[of] = true
				found = append(found, it)
			}
		}
		return len(found) < size && seen < failedReach
	})
	if err != nil {
		return nil, "", err
	}
	if last != 0 && (len(found) == size || seen == failedReach) {
		cursor = strconv.FormatUint(last+1, 10)
	}
	if err := again.read(ctx, o.shared.Store, op.Collection, from); err != nil {
		return nil, "", err
	}
	found = slices.DeleteFunc(found, func(it item) bool { return again.succeeded(it, op.Created) })
	items, err = o.wanted(ctx, &q, found)
	return items, cursor, err
}

func (it item) occurrence() occurrence { return occurrence{it.key, it.nominal.UnixNano()} }

// firstFailed returns the sequence of the first record that may match, or 0.
func (o OperationKeeper) firstFailed(ctx context.Context, op *operation) (from uint64, err error) {
	if op.Cursor != "" {
		return strconv.ParseUint(op.Cursor, 10, 64)
	}
	err = o.shared.Store.RecordsSince(ctx, scheduler.Key{Collection: op.Collection}, op.FailedSince, func(r *scheduler.Record) bool {
		from = r.Sequence
		return false
	})
	return from, err
}

// wanted returns the occurrences whose jobs match.
func (o OperationKeeper) wanted(ctx context.Context, q *scheduler.JobQuery, found []item) (items []item, err error) {
	keys := make([]scheduler.Key, len(found))
	for i, it := range found {
		keys[i] = it.key
	}
	jobs, err := o.shared.readable(ctx, keys)
	if err != nil {
		return nil, err
	}
	wants := map[scheduler.Key]string{}
	for _, j := range jobs {
		if strings.HasPrefix(j.Key.Job, q.Prefix) && q.Wants(j, time.Time{}) {
			wants[j.Key] = j.Incarnation()
		}
	}
	for _, it := range found {
		if uid, ok := wants[it.key]; ok && it.uid == uid {
			items = append(items, it)
		}
	}
	return items, nil
}

// count counts the jobs or occurrences of an operation. With list it keeps the occurrences, up to the limit.
func (o OperationKeeper) count(ctx context.Context, op *operation, list bool) (err error) {
	if op.Verb != v1.VerbResubmit {
		if op.Jobs != nil {
			op.Jobs, err = o.filtered(ctx, op, op.Jobs)
			op.Expected = len(op.Jobs)
			return err
		}
		q, err := op.query(ctx)
		if err != nil {
			return err
		}
		page, err := o.reads.Browse(ctx, q, "", false, 1)
		if errors.Is(err, scheduler.ErrUnavailable) { // without an index, the search reads every job
			views, next, err := o.reads.Search(ctx, q, v1.Page{})
			for op.Expected = len(views); err == nil && next != nil; op.Expected += len(views) {
				views, next, err = o.reads.Search(ctx, q, *next)
			}
			return err
		}
		if err == nil {
			op.Expected = page.Count
		}
		return err
	}
	for at, again := *op, new(reruns); ; {
		items, cursor, err := o.failed(ctx, &at, again, operationPage)
		if err != nil {
			return err
		}
		for _, it := range items {
			op.Expected++
			if list && len(op.Failures) < v1.MaxFailures {
				op.Failures = append(op.Failures, v1.OperationResult{
					Job: it.key.String(), Occurrence: scheduler.OccurrenceID(it.key, it.nominal),
				})
			}
		}
		if at.Cursor = cursor; cursor == "" {
			return nil
		}
	}
}

// labelPatch returns the patch of a job that sets or removes a label.
func (op *operation) labelPatch() []byte {
	name, value, _ := strings.Cut(op.Label, "=")
	set := map[string]*string{strings.TrimSpace(name): nil}
	if op.Verb == v1.VerbLabel {
		value = strings.TrimSpace(value)
		set[strings.TrimSpace(name)] = &value
	}
	body, err := json.Marshal(map[string]any{"properties": map[string]any{"labels": set}})
	if err != nil {
		return nil // strings never fail to encode
	}
	return body
}

// queue holds the items of a job in their order.
type queue struct {
	items []item
	busy  time.Time // since when the job cannot run; zero: it can
	paced bool      // the rate allowed the first item
}

// busyPatience is how long an occurrence waits for its job.
const busyPatience = 2 * time.Minute

// waits reports whether the first item continues to wait because its job cannot run now.
func (q *queue) waits(now time.Time) bool {
	if q.busy.IsZero() {
		q.busy = now
	}
	return now.Sub(q.busy) < busyPatience
}

// enqueue adds items to the queues of their jobs.
func enqueue(queues []*queue, items []item) []*queue {
	of := map[scheduler.Key]*queue{}
	for _, q := range queues {
		of[q.items[0].key] = q
	}
	for _, it := range items {
		q := of[it.key]
		if q == nil {
			q = &queue{}
			of[it.key], queues = q, append(queues, q)
		}
		q.items = append(q.items, it)
	}
	return queues
}

// waiting returns the number of items.
func waiting(queues []*queue) (n int) {
	for _, q := range queues {
		n += len(q.items)
	}
	return n
}

// before returns a cursor that precedes all items and does not follow another cursor. Only occurrences wait.
func before(queues []*queue, cursor string) string {
	first := uint64(math.MaxUint64)
	for _, q := range queues {
		first = min(first, q.items[0].failure.fault.Sequence)
	}
	if first < math.MaxUint64 {
		return strconv.FormatUint(first, 10)
	}
	return cursor
}
