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
	live    bool // it answers with a live tail, not with call
}

// calls answer the lists that are too long for one message, by the ID of the operation.
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

// names match the names in a subject of the table.
var names = regexp.MustCompile(`\{\w+\}`)

// endpoints returns the endpoints of the table, followed by endpoints for names with a dot: such a name is more than one token,
// so that no endpoint of the table matches it.
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

// single has the check of the name for each verb none of whose subjects has more than one.
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

// checks of names, by their keys in the table.
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

// request is a request as an endpoint sees it.
type request struct {
	op   *api.Operation
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
