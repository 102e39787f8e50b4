package natsapi

import (
	"context"
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/intake"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// endpoint is one operation of the micro service.
type endpoint struct {
	name    string
	subject string // below <prefix>.api.
	answers string // for people who look at the service's info
	call    func(ctx context.Context, s *service.Service, r request) answer

	// tail is for what is answered with more than one message, in place of call: it reads which.
	tail func(ctx context.Context, now time.Time, k scheduler.Key, body []byte) (following, error)
}

// request is a request as an endpoint sees it.
type request struct {
	verb string
	name string // what follows the verb in the subject: <collection>.<job>, or <collection>
	body []byte
	how  order
	room int // bytes the values of a reply may have
}

func (r request) key() scheduler.Key { return keyOf(r.name) }

// keyOf reads the end of a subject: what comes after the first dot is the
// job's name, so that a dot in it is found and told.
func keyOf(name string) scheduler.Key {
	collection, job, _ := strings.Cut(name, ".")
	return scheduler.Key{Collection: collection, Job: job}
}

// answer is what a request is answered with.
type answer struct {
	status int // 0: 200
	body   []byte
	etag   string // of what it shows; "" for none
	err    error
}

// code is the status that REST would answer with.
func (a answer) code() int {
	if a.err != nil {
		return view.DescribeError(a.err).Status
	}
	return max(a.status, 200)
}

var endpoints = []endpoint{
	{name: "put", subject: "put.*.*", answers: "the job", call: do},
	{name: "get", subject: "get.*.*", answers: "the job", call: get},
	{name: "patch", subject: "patch.*.*", answers: "the job", call: do},
	{name: "delete", subject: "delete.*.*", answers: "nothing", call: do},
	{name: "run", subject: "run.*.*", answers: "the id of the occurrence", call: do},
	{name: "resubmit", subject: "resubmit.*.*", answers: "the ids of the occurrence, and of the one that it repeats", call: resubmit},
	{name: "enable", subject: "enable.*.*", answers: "the job", call: doBare},
	{name: "disable", subject: "disable.*.*", answers: "the job", call: doBare},
	{name: "pause", subject: "pause.*.*", answers: "the job", call: pause},
	{name: "cancel", subject: "cancel.*.*", answers: "the ids of the occurrences that were canceled", call: cancel},
	{name: "collection-cancel", subject: "collection-cancel.*", answers: "likewise, of a collection", call: cancelCollection},
	{name: "try", subject: "try.*.*", answers: "what became of one attempt of the job", call: try},
	{name: "history", subject: "history.*.*", answers: "a page of records, newest first", call: history},
	{name: "history-collection", subject: "history.*", answers: "a page of the records of a collection, newest first", call: history},
	{name: "history-all", subject: "history", answers: "a page of the records of all jobs, newest first", call: history},
	{name: "why", subject: "why.*.*", answers: "why the job ran at a time, or did not", call: explain},
	{name: "account", subject: "account.*.*", answers: "all instants that were due in a period, with their records", call: account},
	{name: "forecast", subject: "forecast", answers: "what is planned, minute by minute", call: foresee},
	{name: "forecast-collection", subject: "forecast.*", answers: "what is planned of a collection, minute by minute", call: foresee},
	{name: "audit", subject: "audit.*.*", answers: "a page of who changed the job, newest first", call: audit},
	{name: "audit-collection", subject: "audit.*", answers: "a page of who changed a collection and its jobs, newest first", call: audit},
	{name: "audit-all", subject: "audit", answers: "a page of who changed what, newest first", call: audit},
	{name: "list", subject: "list.*", answers: "a page of jobs, by name", call: list},
	{name: "list-all", subject: "list", answers: "a page of the jobs of all collections, by collection and name", call: list},
	{name: "preview", subject: "preview", answers: "when a job would run", call: preview},
	{name: "collection-put", subject: "collection-put.*", answers: "the collection", call: putCollection},
	{name: "collection-get", subject: "collection-get.*", answers: "the collection", call: getCollection},
	{name: "collection-patch", subject: "collection-patch.*", answers: "the collection", call: patchCollection},
	{name: "collection-delete", subject: "collection-delete.*", answers: "nothing", call: removeCollection},
	{name: "collection-enable", subject: "collection-enable.*", answers: "the collection", call: turnCollection(scheduler.Enabled)},
	{name: "collection-disable", subject: "collection-disable.*", answers: "the collection", call: turnCollection(scheduler.Disabled)},
	{name: "operation-create", subject: "operation-create", answers: "the operation", call: createOperation},
	{name: "operation-create-collection", subject: "operation-create.*", answers: "the operation", call: createOperation},
	{name: "operation-list", subject: "operation-list", answers: "operations, the newest first", call: listOperations},
	{name: "operation-list-collection", subject: "operation-list.*", answers: "those of a collection, likewise", call: listOperations},
	{name: "operation-get", subject: "operation-get.*", answers: "the operation", call: aboutOperation(showOperation)},
	{name: "operation-get-collection", subject: "operation-get.*.*", answers: "the operation", call: aboutOperation(showOperation)},
	{name: "operation-cancel", subject: "operation-cancel.*", answers: "the operation", call: aboutOperation(cancelOperation)},
	{name: "operation-cancel-collection", subject: "operation-cancel.*.*", answers: "the operation", call: aboutOperation(cancelOperation)},
	{name: "collection-list", subject: "collection-list", answers: "a page of collections, by name", call: listCollections},
	{name: "secret-put", subject: "secret-put.*", answers: "the secret, without its value", call: putSecret},
	{name: "secret-delete", subject: "secret-delete.*", answers: "nothing", call: removeSecret},
	{name: "secret-list", subject: "secret-list", answers: "all shared secrets, without their values", call: listSecrets},
	{name: "secret-rotate", subject: "secret-rotate", answers: "what was sealed again", call: rotateSecrets},
	// A name with a dot is more than one token. It would find nobody.
	{name: "malformed", subject: "*.*.*.>", answers: "why the name is wrong", call: malformed},
	{name: "malformed-forecast", subject: "forecast.*.>", answers: "why the name is wrong", call: malformed},
	{name: "malformed-list", subject: "list.*.>", answers: "why the name is wrong", call: malformed},
	{name: "malformed-collection-put", subject: "collection-put.*.>", answers: "why the name is wrong", call: malformed},
	{name: "malformed-collection-get", subject: "collection-get.*.>", answers: "why the name is wrong", call: malformed},
	{name: "malformed-collection-patch", subject: "collection-patch.*.>", answers: "why the name is wrong", call: malformed},
	{name: "malformed-collection-delete", subject: "collection-delete.*.>", answers: "why the name is wrong", call: malformed},
	{name: "malformed-collection-enable", subject: "collection-enable.*.>", answers: "why the name is wrong", call: malformed},
	{name: "malformed-collection-disable", subject: "collection-disable.*.>", answers: "why the name is wrong", call: malformed},
	{name: "malformed-collection-cancel", subject: "collection-cancel.*.>", answers: "why the name is wrong", call: malformed},
	{name: "malformed-secret-put", subject: "secret-put.*.>", answers: "why the name is wrong", call: malformed},
	{name: "malformed-secret-delete", subject: "secret-delete.*.>", answers: "why the name is wrong", call: malformed},
}

// doBare is do for what takes no document.
func doBare(ctx context.Context, s *service.Service, r request) answer {
	if err := intake.CheckNoDocument(ctx, r.body); err != nil {
		return answer{err: err}
	}
	return do(ctx, s, r)
}

// do carries out what the request's verb asks for of a job.
func do(ctx context.Context, s *service.Service, r request) answer {
	d, err := carryOut(ctx, s, r.verb, service.Edit{
		Key: r.key(), Body: r.body, Strict: r.how.strict, DryRun: r.how.dryRun,
	}, s.Now())
	switch {
	case err != nil:
		return answer{err: err}
	case d.occurrence != "":
		return answer{body: view.JSON(started{d.occurrence})}
	case d.view == nil:
		return answer{}
	}
	ans := job(d.view, nil)
	if d.created && !r.how.dryRun {
		ans.status = 201
	}
	return ans
}

// started tells of a run by hand.
type started struct {
	Occurrence string `json:"occurrence"` // its id
}

func resubmit(ctx context.Context, s *service.Service, r request) answer {
	return shown(s.Resubmit(ctx, r.key(), r.body))
}

func pause(ctx context.Context, s *service.Service, r request) answer {
	return job(s.PauseBy(ctx, r.key(), r.body, s.Now()))
}

func cancel(ctx context.Context, s *service.Service, r request) answer {
	return shown(s.Cancel(ctx, r.key(), r.body))
}

func cancelCollection(ctx context.Context, s *service.Service, r request) answer {
	return shown(s.CancelCollection(ctx, r.name, r.body))
}

func try(ctx context.Context, s *service.Service, r request) answer {
	return shown(s.Try(ctx, r.key(), r.body))
}

func get(ctx context.Context, s *service.Service, r request) answer {
	v, err := s.Get(ctx, r.key())
	if err != nil {
		return answer{err: err}
	}
	return r.unlessKnown("job "+v.Job.Key.String(), job(v, nil))
}

// unlessKnown is the answer to who asks for something, unless its condition says otherwise: 304 is for who knows it.
func (r request) unlessKnown(what string, ans answer) answer {
	switch r.how.when.Judge(ans.etag, true) {
	case scheduler.Unmodified:
		return answer{status: 304, etag: ans.etag}
	case scheduler.Differs:
		return answer{err: r.how.when.Check(what, ans.etag)}
	case scheduler.Holds:
	}
	return ans
}

// shown answers with a document.
func shown[T any](v T, err error) answer {
	if err != nil {
		return answer{err: err}
	}
	return answer{body: view.JSON(v)}
}

// job answers with a job's document.
func job(v *view.Job, err error) answer {
	if err != nil {
		return answer{err: err}
	}
	return answer{body: view.JSON(v), etag: v.ETag()}
}

// history answers with records of a job, of a collection or of all.
func history(ctx context.Context, s *service.Service, r request) answer {
	q, err := readQuery(ctx, r.body, historyList)
	if err != nil {
		return answer{err: err}
	}
	asked := service.HistoryQuery{Key: r.key()}
	asked.RecordFilter, err = view.HistoryFilter(q.Filter, s.Now())
	page := q.page()
	if err == nil {
		page.Before, err = view.ReadHistoryToken(q.After)
	}
	if err != nil {
		return answer{err: err}
	}
	asked.UID, asked.Earlier = q.UID, q.Earlier
	records, before, err := s.History(ctx, asked, page)
	if err != nil {
		return answer{err: err}
	}
	values := make([]json.RawMessage, len(records))
	for i, rec := range records {
		values[i] = view.JSON(view.Record(rec))
	}
	return listing(values, before > 0, func(n int) string {
		if n < len(records) { // the others did not fit
			before = records[n-1].Sequence
		}
		return q.after(view.HistoryToken(before), 0)
	}, r.room)
}

func preview(ctx context.Context, s *service.Service, r request) answer {
	p, err := s.Preview(ctx, r.body)
	if err != nil {
		return answer{err: err}
	}
	return answer{body: view.JSON(view.Preview(p))}
}

// malformed tells what is wrong with a name of too many tokens.
func malformed(_ context.Context, _ *service.Service, r request) answer {
	switch what, _, _ := strings.Cut(r.verb, "-"); what {
	case "list", "collection", "forecast":
		return answer{err: scheduler.ValidateCollection(r.name)}
	case "secret":
		return answer{err: scheduler.ValidateName("secret", r.name)}
	}
	return answer{err: r.key().Validate()}
}

// query is the part of a listing that is asked for: the body of a request, and
// the nextLink of its answer.
type query struct {
	view.JobSearch // $filter, of histories too, and the rest of jobs

	Skip  int    `json:"$skip,omitempty"`
	After string `json:"$skiptoken,omitempty"` // the place after which to go on: a name, or the sequence of a record
	Top   int    `json:"$top,omitempty"`

	UID     string `json:"uid,omitempty"`     // of a history: of which job of the name
	Earlier bool   `json:"earlier,omitempty"` // likewise: of those that are not there any more
}

func (q query) page() view.Page { return view.Page{Skip: q.Skip, Top: q.Top, After: q.After} }

// listKind is what a listing is of.
type listKind int

// The listings.
const (
	shortList listKind = iota // of all there are: collections, secrets
	jobList
	historyList
)

// readQuery reads the body of a request for a listing; it may be empty.
func readQuery(ctx context.Context, body []byte, of listKind) (q query, err error) {
	err = readBody(ctx, body, func(o *document.Object) {
		q.Top, q.Skip = pageIn(o)
		q.Filter, _ = o.String("$filter")
		if of != shortList {
			q.After, _ = o.String("$skiptoken")
		}
		if of == jobList {
			q.Labels, _ = o.String("labelSelector")
			q.Prefix, _ = o.String("prefix")
			q.Action, _ = o.String("actionType")
			q.NextAfter, _ = o.String("nextAfter")
			q.NextBefore, _ = o.String("nextBefore")
			q.Text, _ = o.String("text")
			q.Outcome, _ = o.String("lastOutcome")
		}
		if of == historyList {
			q.UID, _ = o.String("uid")
			q.Earlier, _ = o.Bool("earlier")
		}
	})
	return q, err
}

// pageIn reads which part of a listing is asked for.
func pageIn(o *document.Object) (top, skip int) {
	most, _ := o.Int("$top", 1, view.MaxPage)
	left, _ := o.Int("$skip", 0, math.MaxInt32)
	return int(most), int(left)
}

// readBody has read take what it knows of the body of a request: an object, or nothing, of which read is not called. The
// error tells of all that is wrong, members that are not known among it.
func readBody(ctx context.Context, body []byte, read func(o *document.Object)) error {
	if strings.TrimSpace(string(body)) == "" {
		return nil
	}
	v, err := intake.Parse(ctx, body)
	if err != nil {
		return err
	}
	reader := document.NewReader()
	o := reader.Object(v, "")
	read(o)
	o.Done()
	return scheduler.AsInvalid(reader.Err())
}

// behind asks for the page that follows n entries of q's.
func (q query) behind(n int) string {
	q.Skip, q.After = q.Skip+n, ""
	return string(view.JSON(q))
}

// after asks for the page that follows a place, without so many entries after it.
func (q query) after(place string, skip int) string {
	q.Skip, q.After = skip, place
	return string(view.JSON(q))
}

// listing answers with as many values as fit. next asks for the page behind so
// many of them.
func listing(values []json.RawMessage, more bool, next func(n int) string, room int) answer {
	size := 0
	for i, v := range values {
		size += len(v) + 1
		if size > room && i > 0 {
			values, more = values[:i], true
			break
		}
	}
	link := ""
	if more {
		link = next(len(values))
	}
	return answer{body: view.JSON(view.NewList(values, link))}
}

// semver is the pattern that micro services must match (semver.org).
var semver = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)` +
	`(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?` +
	`(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`)

var notSemver = regexp.MustCompile(`[^0-9A-Za-z]+`)

// semantic makes any version a semantic one.
func semantic(version string) string {
	version = strings.TrimPrefix(version, "v")
	if semver.MatchString(version) {
		return version
	}
	if version = strings.Trim(notSemver.ReplaceAllString(version, "-"), "-"); version == "" {
		version = "dev"
	}
	return "0.0.0+" + version
}
