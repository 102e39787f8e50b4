package natsapi

import (
	"context"
	"encoding/json"
	"math"
	"regexp"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
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
	err    error
}

var endpoints = []endpoint{
	{"put", "put.*.*", "the job", put},
	{"get", "get.*.*", "the job", get},
	{"patch", "patch.*.*", "the job", patch},
	{"delete", "delete.*.*", "nothing", remove},
	{"run", "run.*.*", "the id of the occurrence", run},
	{"enable", "enable.*.*", "the job", turn(scheduler.Enabled)},
	{"disable", "disable.*.*", "the job", turn(scheduler.Disabled)},
	{"history", "history.*.*", "a page of records, newest first", history},
	{"list", "list.*", "a page of jobs, by name", list},
	{"preview", "preview", "when a job would run", preview},
	{"secret-put", "secret-put.*", "the secret, without its value", putSecret},
	{"secret-delete", "secret-delete.*", "nothing", removeSecret},
	{"secret-list", "secret-list", "all shared secrets, without their values", listSecrets},
	{"secret-rotate", "secret-rotate", "what was sealed again", rotateSecrets},
	// A name with a dot is more than one token. It would find nobody.
	{"malformed", "*.*.*.>", "why the name is wrong", malformed},
	{"malformed-list", "list.*.>", "why the name is wrong", malformed},
	{"malformed-secret-put", "secret-put.*.>", "why the name is wrong", malformed},
	{"malformed-secret-delete", "secret-delete.*.>", "why the name is wrong", malformed},
}

func put(ctx context.Context, s *service.Service, r request) answer {
	v, created, err := s.Put(ctx, service.Edit{Key: r.key(), Body: r.body})
	ans := job(v, err)
	if created {
		ans.status = 201
	}
	return ans
}

func get(ctx context.Context, s *service.Service, r request) answer {
	return job(s.Get(ctx, r.key()))
}

func patch(ctx context.Context, s *service.Service, r request) answer {
	return job(s.Patch(ctx, service.Edit{Key: r.key(), Body: r.body}))
}

func remove(ctx context.Context, s *service.Service, r request) answer {
	return answer{err: s.Delete(ctx, r.key(), 0)}
}

func run(ctx context.Context, s *service.Service, r request) answer {
	id, err := s.Trigger(ctx, r.key())
	if err != nil {
		return answer{err: err}
	}
	return answer{body: document.ObjectValue(text("occurrence", id)).JSON()}
}

func turn(state scheduler.State) func(context.Context, *service.Service, request) answer {
	return func(ctx context.Context, s *service.Service, r request) answer {
		return job(s.Turn(ctx, r.key(), state, 0))
	}
}

// job answers with a job's document.
func job(v *view.Job, err error) answer {
	if err != nil {
		return answer{err: err}
	}
	return answer{body: view.JSON(v)}
}

func history(ctx context.Context, s *service.Service, r request) answer {
	q, err := readQuery(r.body)
	if err != nil {
		return answer{err: err}
	}
	outcomes, err := view.HistoryFilter(q.filter)
	if err != nil {
		return answer{err: err}
	}
	records, more, err := s.History(ctx, r.key(), outcomes, q.page)
	if err != nil {
		return answer{err: err}
	}
	values := make([]json.RawMessage, len(records))
	for i, rec := range records {
		values[i] = view.JSON(view.Record(rec))
	}
	return listing(values, more, q.behind, r.room)
}

func list(ctx context.Context, s *service.Service, r request) answer {
	q, err := readQuery(r.body, "$skiptoken")
	if err != nil {
		return answer{err: err}
	}
	state, err := view.JobFilter(q.filter)
	if err != nil {
		return answer{err: err}
	}
	views, more, err := s.List(ctx, r.name, state, q.page)
	if err != nil {
		return answer{err: err}
	}
	values := make([]json.RawMessage, len(views))
	for i, v := range views {
		values[i] = view.JSON(v)
	}
	after := func(n int) string { return q.body(text("$skiptoken", views[n-1].Job.Key.Job)) }
	return listing(values, more, after, r.room)
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
	switch r.verb {
	case "list":
		return answer{err: scheduler.ValidateName("collection", r.name)}
	case "secret-put", "secret-delete":
		return answer{err: scheduler.ValidateName("secret", r.name)}
	}
	return answer{err: r.key().Validate()}
}

// query is the part of a listing that is asked for.
type query struct {
	page   view.Page
	filter string
}

// readQuery reads the body of a request for a listing; it may be empty. token
// is the member that says after which name to go on, if there is one.
func readQuery(body []byte, token ...string) (query, error) {
	var q query
	if strings.TrimSpace(string(body)) == "" {
		return q, nil
	}
	v, err := scheduler.ParseDocument(body)
	if err != nil {
		return q, err
	}
	reader := document.NewReader()
	o := reader.Object(v, "")
	top, _ := o.Int("$top", 1, view.MaxPage)
	skip, _ := o.Int("$skip", 0, math.MaxInt32)
	q.filter, _ = o.String("$filter")
	q.page = view.Page{Top: int(top), Skip: int(skip)}
	for _, name := range token {
		q.page.After, _ = o.String(name)
	}
	o.Done()
	return q, scheduler.AsInvalid(reader.Err())
}

// behind asks for the page that follows n entries of q's.
func (q query) behind(n int) string { return q.body(count("$skip", uint64(q.page.Skip+n))) }

// body asks for a page like q that begins elsewhere.
func (q query) body(begin document.Member) string {
	m := []document.Member{begin}
	if q.page.Top > 0 {
		m = append(m, count("$top", uint64(q.page.Top)))
	}
	if q.filter != "" {
		m = append(m, text("$filter", q.filter))
	}
	return document.ObjectValue(m...).String()
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
