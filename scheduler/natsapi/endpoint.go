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
	{"put", "put.*.*", "the job", do},
	{"get", "get.*.*", "the job", get},
	{"patch", "patch.*.*", "the job", do},
	{"delete", "delete.*.*", "nothing", do},
	{"run", "run.*.*", "the id of the occurrence", doBare},
	{"resubmit", "resubmit.*.*", "the ids of the occurrence, and of the one that it repeats", resubmit},
	{"enable", "enable.*.*", "the job", doBare},
	{"disable", "disable.*.*", "the job", doBare},
	{"history", "history.*.*", "a page of records, newest first", history},
	{"history-collection", "history.*", "a page of the records of a collection, newest first", history},
	{"history-all", "history", "a page of the records of all jobs, newest first", history},
	{"why", "why.*.*", "why the job ran at a time, or did not", explain},
	{"list", "list.*", "a page of jobs, by name", list},
	{"list-all", "list", "a page of the jobs of all collections, by collection and name", list},
	{"preview", "preview", "when a job would run", preview},
	{"collection-put", "collection-put.*", "the collection", putCollection},
	{"collection-get", "collection-get.*", "the collection", getCollection},
	{"collection-patch", "collection-patch.*", "the collection", patchCollection},
	{"collection-delete", "collection-delete.*", "nothing", removeCollection},
	{"collection-enable", "collection-enable.*", "the collection", turnCollection(scheduler.Enabled)},
	{"collection-disable", "collection-disable.*", "the collection", turnCollection(scheduler.Disabled)},
	{"collection-list", "collection-list", "a page of collections, by name", listCollections},
	{"secret-put", "secret-put.*", "the secret, without its value", putSecret},
	{"secret-delete", "secret-delete.*", "nothing", removeSecret},
	{"secret-list", "secret-list", "all shared secrets, without their values", listSecrets},
	{"secret-rotate", "secret-rotate", "what was sealed again", rotateSecrets},
	// A name with a dot is more than one token. It would find nobody.
	{"malformed", "*.*.*.>", "why the name is wrong", malformed},
	{"malformed-list", "list.*.>", "why the name is wrong", malformed},
	{"malformed-collection-put", "collection-put.*.>", "why the name is wrong", malformed},
	{"malformed-collection-get", "collection-get.*.>", "why the name is wrong", malformed},
	{"malformed-collection-patch", "collection-patch.*.>", "why the name is wrong", malformed},
	{"malformed-collection-delete", "collection-delete.*.>", "why the name is wrong", malformed},
	{"malformed-collection-enable", "collection-enable.*.>", "why the name is wrong", malformed},
	{"malformed-collection-disable", "collection-disable.*.>", "why the name is wrong", malformed},
	{"malformed-secret-put", "secret-put.*.>", "why the name is wrong", malformed},
	{"malformed-secret-delete", "secret-delete.*.>", "why the name is wrong", malformed},
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
	}, time.Now())
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
	v, err := s.Resubmit(ctx, r.key(), r.body)
	if err != nil {
		return answer{err: err}
	}
	return answer{body: view.JSON(v)}
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
	asked.RecordFilter, err = view.HistoryFilter(q.Filter, time.Now())
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
	case "list", "collection":
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
	if strings.TrimSpace(string(body)) == "" {
		return q, nil
	}
	v, err := intake.Parse(ctx, body)
	if err != nil {
		return q, err
	}
	reader := document.NewReader()
	o := reader.Object(v, "")
	top, _ := o.Int("$top", 1, view.MaxPage)
	skip, _ := o.Int("$skip", 0, math.MaxInt32)
	q.Top, q.Skip = int(top), int(skip)
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
	}
	if of == historyList {
		q.UID, _ = o.String("uid")
		q.Earlier, _ = o.Bool("earlier")
	}
	o.Done()
	return q, scheduler.AsInvalid(reader.Err())
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
