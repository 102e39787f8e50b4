package natsapi

import (
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/api/dispatch"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// call answers a request with one message.
type call func(ctx context.Context, s *control.Service, r request) answer

// endpoint is a subject of the micro service.
type endpoint struct {
	name    string
	subject string         // below <prefix>.api
	answers string         // shown by nats micro info
	op      *api.Operation // nil: the endpoint is for malformed names
	call    call
	live    bool // answers with a live tail, not with call
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
		all = append(all, endpoint{e.Name, names.ReplaceAllString(e.Subject, "*"), answers, e.Operation, perform, e.Live})
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

func tellName(_ context.Context, _ *control.Service, r request) answer {
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
		return v1.DescribeError(a.err).Status
	}
	return max(a.status, 200)
}

// readBody calls read with the body of a request if it is an object; an empty body is valid, too. The error reports all
// problems, including unknown fields.
func readBody(ctx context.Context, body []byte, read func(o *document.Object)) error {
	if strings.TrimSpace(string(body)) == "" {
		return nil
	}
	v, err := flow.Parse(ctx, body)
	if err != nil {
		return err
	}
	reader := document.NewReader()
	o := reader.Object(v, "")
	read(o)
	o.Done()
	return scheduler.AsInvalid(reader.Err())
}

// outsideBody are the parameters that [request.read] takes from the subject and the headers. A link with them would be refused.
var outsideBody = []string{"collection", "strict", "dryRun"}

// listing answers with as many values of a page as fit. Its link is the body that requests the next page.
func (r request) listing(asked *dispatch.Request, page dispatch.Answer) answer {
	values := make([]json.RawMessage, len(page.Items))
	size := 0
	for i, one := range page.Items {
		values[i] = v1.JSON(one)
		size += len(values[i]) + 1
		if size > r.room && i > 0 {
			values = values[:i]
			break
		}
	}
	link := ""
	if changes := page.Next(len(values)); changes != nil {
		next := maps.Clone(asked.Params)
		for _, name := range outsideBody {
			delete(next, name)
		}
		for name, value := range changes {
			delete(next, name)
			if value != nil {
				next[name] = value
			}
		}
		link = string(v1.JSON(next))
	}
	return answer{body: v1.JSON(v1.NewList(values, link))}
}

// shortPage are the parameters of a complete list. The request may have a filter, which has no effect.
var shortPage = []api.Param{
	{Name: "$top", Kind: api.Number, Min: 1, Max: v1.MaxPage}, {Name: "$skip", Kind: api.Number}, {Name: "$filter"},
}

// part returns the requested page of a complete list.
func part(asked *dispatch.Request, all dispatch.Answer) dispatch.Answer {
	top, skip := asked.Number("$top"), asked.Number("$skip")
	total := len(all.Items)
	all.Items = all.Items[min(skip, total):]
	if top > 0 && len(all.Items) > top {
		all.Items = all.Items[:top]
	}
	all.Next = func(n int) map[string]any {
		if skip+n >= total {
			return nil
		}
		return map[string]any{"$skip": skip + n}
	}
	return all
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
