package rest_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/internal/hostile"
	"github.com/carillon-sched/carillon/scheduler/rest"
)

// drawn draws HTTP requests: for any route, right in many ways and wrong in some.
type drawn struct {
	r *rand.Rand

	routes []rest.Route
	tags   []string // ETags that were answered lately
	ids    []string // and ids
}

// What stands in the places of requests. What is said more often is drawn more often.
var (
	drawnNames  = []string{"default", "seven", "few", "made", "seven", "default", "seven", "full", "job1", "job2", "job3", "rotate", "shared", "default.seven"}
	drawnGrants = []string{
		"admin", "admin", "admin", "admin", "admin", "admin", "admin", "admin", "operator", "operator@default", "reader", "reader@few", "nobody", "",
	}
	drawnMethods = []string{"GET", "HEAD", "PUT", "PATCH", "POST", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "P\u00fcT"}
	drawnTypes   = []string{
		"application/json", "application/yaml", "application/merge-patch+json", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
		"application/json; charset=utf-16", "/", "",
	}
	drawnOptions = []string{
		"dryRun=true", "strict=true", "strict=maybe", "onlyEmpty=true", "fix=true", "force=true", "$top=2", "$top=0", "$top=1e9", "$skip=3", "$skip=-1",
		"$skiptoken=5", "$skiptoken=%00", "$filter=state+eq+Enabled", "$filter=status%20eq%20Failed", "$filter=%28%28%28", "$filter=host+eq+%27a%27+or", "labelSelector=a%3Db",
		"prefix=j", "actionType=Http", "nextAfter=2030-01-01T00:00:00Z", "nextBefore=x", "text=J", "lastOutcome=never", "lastOutcome=x", "follow=true", "follow=1", "after=0", "after=99999999999999999999", "as=lines",
		"uid=x", "earlier=true", "at=2030-01-01T00:00:00Z", "at=now", "days=400", "max=5", "hours=24", "hours=-1", "from=2030-01-01T00:00:00Z", "proposals=true",
		"collection=default", "kind=job", "who=x", "op=put", "since=2026-01-01T00:00:00Z", "until=", "page=2", "page_size=3", "order_by=-id", "name__contains=n",
		"nonsense=1", "=1", "%zz", "a;b", "dryRun=true&dryRun=false",
	}
	drawnVersions = []string{
		"api-version=2016-03-01", "api-version=2016-03-01", "api-version=2016-01-01", "api-version=2014-08-01-preview", "api-version=2014-04-01", "",
		"api-version=2016-03-01&api-version=x",
	}
	drawnWhen = []string{
		"If-Match: *", "If-Match: \"x\"", "If-Match: $", "If-Match: W/$", "If-None-Match: *", "If-None-Match: $", "If-None-Match: \"a\", $", "If-Match: ", "If-Match: \"",
	}
	drawnHeaders = []string{
		"Accept: text/event-stream", "Accept: application/x-ndjson", "Accept: */*;q=0", "Last-Event-ID: 3", "Last-Event-ID: -1", "Expect: 100-continue",
		"Origin: http://evil.test", "Origin: null", "Sec-Fetch-Site: cross-site", "Upgrade: websocket", "X-HTTP-Method-Override: DELETE",
		"x-ms-client-request-id: 1", "x-ms-correlation-request-id: \x01", "Content-Encoding: gzip", "Transfer-Encoding: gzip, chunked", "Forwarded: for=x;host=y",
		"Range: bytes=0-1", "Authorization: Bearer admin", "Authorization: Basic YTpi", "Cookie: a=b", "Connection: close", "Content-Length: 7", "Te: trailers",
	}
)

func (d *drawn) one(of []string) string { return of[d.r.IntN(len(of))] }
func (d *drawn) rarely() bool           { return d.r.IntN(25) == 0 }

// request is the text of a request. A quarter of them are changed as texts, too, whatever that hits.
func (d *drawn) request() []byte {
	route := d.routes[d.r.IntN(len(d.routes))]
	for route.Method == http.MethodGet && d.r.IntN(2) > 0 { // there are many of those
		route = d.routes[d.r.IntN(len(d.routes))]
	}
	text := d.around(route)
	for d.r.IntN(4) == 0 {
		text = hostile.Mutant(d.r, text)
	}
	return []byte(text)
}

// around is a request for a route.
func (d *drawn) around(route rest.Route) string {
	method := route.Method
	if d.rarely() {
		method = d.one(drawnMethods)
	}
	body := ""
	if method != "GET" && method != "HEAD" || d.rarely() {
		body = hostile.Body(d.r, kindOf(route))
	}
	if d.rarely() && d.r.IntN(4) == 0 {
		body = strings.Repeat("x", 2<<20)
	}
	head := []string{"Host: carillon.test"}
	if d.rarely() {
		head[0] = "Host: " + d.one([]string{"evil.test", "", "carillon.test:99999", "[::1", "carillon.test, evil.test"})
	}
	if grants := d.one(drawnGrants); grants != "" {
		head = append(head, as(grants))
	}
	if d.r.IntN(3) == 0 {
		head = append(head, "Content-Type: "+d.one(drawnTypes))
	}
	if d.r.IntN(6) == 0 {
		head = append(head, strings.ReplaceAll(d.one(drawnWhen), "$", d.known(d.tags)))
	}
	for d.r.IntN(4) == 0 {
		head = append(head, d.one(drawnHeaders))
	}
	if d.rarely() {
		body = zipped(body)
		head = append(head, "Content-Encoding: gzip")
	}
	version := "HTTP/1.1"
	switch {
	case d.rarely():
		version = d.one([]string{"HTTP/1.0", "HTTP/1.1", "HTTP/2.0", "HTTP/9.9"})
		head = append(head, fmt.Sprintf("Content-Length: %d", len(body)))
	case d.r.IntN(4) == 0:
		head = append(head, "Transfer-Encoding: chunked")
		body = chunked(body)
	default:
		head = append(head, fmt.Sprintf("Content-Length: %d", len(body)))
	}
	return method + " " + d.target(route) + " " + version + "\r\n" + strings.Join(head, "\r\n") + "\r\n\r\n" + body
}

// target is the path of a route with names in it, and options.
func (d *drawn) target(route rest.Route) string {
	var path strings.Builder
	rest := strings.ReplaceAll(route.Path, "{$}", "")
	for {
		before, wild, found := strings.Cut(rest, "{")
		path.WriteString(before)
		if !found {
			break
		}
		wild, rest, _ = strings.Cut(wild, "}")
		path.WriteString(d.name(wild))
	}
	options := []string{}
	if strings.HasPrefix(route.Path, "/subscriptions") {
		options = append(options, d.one(drawnVersions))
	}
	known := slices.DeleteFunc(slices.Clone(drawnOptions), func(option string) bool {
		name, _, _ := strings.Cut(option, "=")
		return !slices.Contains(route.Options, name)
	})
	for d.r.IntN(3) == 0 {
		if len(known) > 0 && !d.rarely() {
			options = append(options, d.one(known))
		} else if d.rarely() {
			options = append(options, d.one(drawnOptions))
		}
	}
	options = slices.DeleteFunc(options, func(o string) bool { return o == "" })
	if len(options) == 0 {
		return path.String()
	}
	return path.String() + "?" + strings.Join(options, "&")
}

// name is what stands for a wildcard of a path.
func (d *drawn) name(wild string) string {
	switch {
	case d.rarely():
		return url.PathEscape(hostile.Word(d.r))
	case wild == "s":
		return d.one([]string{scheduler.DefaultSubscription, "s1"})
	case wild == "g":
		return d.one([]string{scheduler.DefaultGroup, "g1"})
	case wild == "c":
		return d.one([]string{"default", "default", "default", "few", "few", "full", "made"})
	case wild == "id":
		return d.known(d.ids)
	}
	return d.one(drawnNames)
}

// kindOf is the kind of document that a route reads.
func kindOf(route rest.Route) hostile.Kind {
	switch path := bare(route.Path); {
	case strings.HasSuffix(path, "/preview") && strings.HasPrefix(path, "/api/v2"), strings.Contains(path, "/schedules"):
		return hostile.Schedule
	case path == "/preview":
		return hostile.Preview
	case path == "/secrets/{name}" && route.Method == http.MethodPut:
		return hostile.Secret
	case path == "/tokens":
		return hostile.Token
	case strings.HasSuffix(path, "/jobs/{j}") && route.Method == http.MethodPatch:
		return hostile.Patch
	case strings.HasSuffix(path, "/jobs/{j}") && route.Method == http.MethodPut, strings.HasSuffix(path, "/jobs"):
		return hostile.Job
	case strings.HasSuffix(path, "/jobCollections/{c}") && route.Method != http.MethodDelete:
		return hostile.Collection
	}
	return hostile.Nothing
}

// known is one of what was answered lately.
func (d *drawn) known(some []string) string {
	if len(some) == 0 {
		return "1"
	}
	return d.one(some)
}

// learn keeps what an answer names, for requests to come.
func (d *drawn) learn(answer *httptest.ResponseRecorder) {
	if tag := answer.Header().Get("ETag"); tag != "" {
		d.tags = latest(d.tags, tag)
	}
	var told struct {
		ID json.RawMessage `json:"id"`
	}
	if answer.Code != http.StatusCreated || json.Unmarshal(answer.Body.Bytes(), &told) != nil {
		return
	}
	if id := strings.Trim(string(told.ID), `"`); !strings.Contains(id, "/") { // of a token or a schedule: others have paths
		d.ids = latest(d.ids, id)
	}
}

// latest adds to some, of which no more than the last 8 are kept.
func latest(some []string, one string) []string {
	return append(some[max(0, len(some)-7):], one)
}

func zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.String()
}

// chunked is a body in two chunks.
func chunked(body string) string {
	half := len(body) / 2
	var text strings.Builder
	for _, part := range []string{body[:half], body[half:]} {
		if part != "" {
			fmt.Fprintf(&text, "%x\r\n%s\r\n", len(part), part)
		}
	}
	return text.String() + "0\r\n\r\n"
}
