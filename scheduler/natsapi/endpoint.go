package natsapi

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/api/dispatch"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/intake"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// call answers a request with one message.
type call func(ctx context.Context, s *service.Service, r request) answer

// endpoint is a subject of the micro service.
type endpoint struct {
	name    string
	subject string         // below <prefix>.api
	answers string         // shown by nats micro info
	op      *api.Operation // nil: the endpoint is for malformed names
	call    call
	live    bool // answers with a live tail, not with call
}

// calls answer the lists that may exceed one message, by the ID of the operation.
var calls = map[string]call{
	"listJobs":          list,
	"listAllJobs":       list,
	"jobHistory":        history,
	"collectionHistory": history,
	"history":           history,
	"jobAudit":          audit,
	"collectionAudit":   audit,
	"audit":             audit,
}

// names matches the names in a subject of the table.
var names = regexp.MustCompile(`\{\w+\}`)

// endpoints returns the endpoints of the table, followed by endpoints for names with a dot. Such a name is more than
// one token and matches no endpoint of the table.
func endpoints() []endpoint {
	var all []endpoint
	for _, e := range api.Endpoints() {
		answers := e.Returns
		if e.Live {
			answers = "a live tail of new records, or of all records after a sequence"
		}
		call := calls[e.ID]
		if dispatch.Performs(e.Operation) {
			call = perform
		}
		all = append(all, endpoint{e.Name, names.ReplaceAllString(e.Subject, "*"), answers, e.Operation, call, e.Live})
	}
	all = append(all, malformed("malformed", "*.*.*.>"))
	for _, verb := range slices.Sorted(maps.Keys(single)) {
		all = append(all, malformed("malformed-"+verb, verb+".*.>"))
	}
	return all
}

// single maps a verb to the check of its name, if none of its subjects has more than one name.
var single = func() map[string]func(name string) error {
	all := map[string]func(name string) error{}
	for _, e := range api.Endpoints() {
		switch found := api.NamesIn(e.Subject); {
		case len(found) > 1:
			all[e.Verb()] = nil
		case len(found) == 1:
			if _, known := all[e.Verb()]; !known {
				all[e.Verb()] = checks[found[0]]
			}
		}
	}
	maps.DeleteFunc(all, func(_ string, check func(string) error) bool { return check == nil })
	return all
}()

// checks maps the keys of names in the table to their checks.
var checks = map[string]func(name string) error{
	"c":    scheduler.ValidateCollection,
	"name": func(name string) error { return scheduler.ValidateName("secret", name) },
}

// malformed returns an endpoint that explains the error of a name.
func malformed(name, subject string) endpoint {
	return endpoint{name: name, subject: subject, answers: "why the name is wrong", call: tellName}
}

func tellName(_ context.Context, _ *service.Service, r request) answer {
	if check := single[r.verb]; check != nil {
		return answer{err: check(r.name)}
	}
	return answer{err: r.key().Validate()}
}

// request is a request to an endpoint.
type request struct {
	op   *api.Operation
	verb string
	name string // the subject after the verb: <collection>.<job>, or <collection>
	body []byte
	how  order
	room int // space for the values of a reply, in bytes
}

func (r request) key() scheduler.Key { return keyOf(r.name) }

// keyOf parses the end of a subject. The job's name is everything after the first dot, so that validation reports
// further dots.
func keyOf(name string) scheduler.Key {
	collection, job, _ := strings.Cut(name, ".")
	return scheduler.Key{Collection: collection, Job: job}
}

// answer is the answer to a request.
type answer struct {
	status int // 0: 200
	body   []byte
	etag   string // of the object in the answer; "": none
	err    error
}

// code returns the status of the REST API.
func (a answer) code() int {
	if a.err != nil {
		return view.DescribeError(a.err).Status
	}
	return max(a.status, 200)
}

// unlessKnown returns the answer to a read, unless its condition decides otherwise: 304 if the caller has the current
// version.
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

// history answers with records of a job, of a collection or of all jobs.
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

// query selects a part of a list: the body of a request, and the nextLink of its answer.
type query struct {
	view.JobSearch // $filter, of histories too, and the other fields for jobs

	Skip  int    `json:"$skip,omitempty"`
	After string `json:"$skiptoken,omitempty"` // begin after this position: a name, or the sequence of a record
	Top   int    `json:"$top,omitempty"`

	UID     string `json:"uid,omitempty"`     // of a history: the incarnation of the job
	Earlier bool   `json:"earlier,omitempty"` // of a history: include deleted incarnations of the job
}

func (q query) page() view.Page { return view.Page{Skip: q.Skip, Top: q.Top, After: q.After} }

// listKind is the kind of a list.
type listKind int

// The lists.
const (
	shortList listKind = iota // complete: collections, secrets
	jobList
	historyList
)

// readQuery parses the body of a list request; it may be empty.
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

// pageIn parses the bounds of a page.
func pageIn(o *document.Object) (top, skip int) {
	most, _ := o.Int("$top", 1, view.MaxPage)
	left, _ := o.Int("$skip", 0, math.MaxInt32)
	return int(most), int(left)
}

// readBody calls read with the body of a request if it is an object; an empty body is valid, too. The error reports all
// problems, including unknown fields.
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

// behind returns the request for the page after n entries of q's page.
func (q query) behind(n int) string {
	q.Skip, q.After = q.Skip+n, ""
	return string(view.JSON(q))
}

// after returns the request for the page after a position, skipping further entries.
func (q query) after(place string, skip int) string {
	q.Skip, q.After = skip, place
	return string(view.JSON(q))
}

// listing answers with as many values as fit. next returns the request for the page behind n values.
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

// semantic converts any version to a semantic one.
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
