package admin

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// A query is one request to the ATOM interface.
type query struct {
	broker  *broker.Broker
	explain func(r *http.Request, what, path string, err error)
	w       http.ResponseWriter
	r       *http.Request
}

// serveATOM routes a request by its path. Names of queues and topics may contain slashes, so it parses the path from the end.
func (h *handler) serveATOM(w http.ResponseWriter, r *http.Request, path string) {
	q := &query{broker: h.Broker, explain: h.Explain, w: w, r: r}
	lower := strings.ToLower(path)
	switch {
	case path == "":
		writeXML(w, http.StatusOK, "application/atom+xml;type=feed;charset=utf-8", feed{
			Space: atomSpace, ID: q.self(), Title: text{"text", "Publicly Listed Services"}, Updated: stamp(time.Now()),
			Links: []link{{"self", q.self()}},
		})
		return
	case lower == "$namespaceinfo":
		q.namespace(h.started)
		return
	case lower == "$resources/queues":
		q.list("Queues", broker.QueueKind)
		return
	case lower == "$resources/topics":
		q.list("Topics", broker.TopicKind)
		return
	}
	topic, rest, isSubscription := cutFold(path, "/subscriptions")
	if !isSubscription {
		q.entity("", path)
		return
	}
	rest = strings.Trim(rest, "/")
	name, rule, isRule := cutFold(rest, "/rules")
	rule = strings.Trim(rule, "/")
	switch {
	case rest == "":
		q.listSubscriptions(topic)
	case !isRule:
		q.entity(topic, rest)
	case rule == "":
		q.listRules(topic, name)
	default:
		q.rule(topic, name, rule)
	}
}

// cutFold cuts a path at the last segment equal to a separator, in any case.
func cutFold(path, separator string) (before, after string, found bool) {
	for at := len(path) - len(separator); at >= 0; at-- {
		after = path[at+len(separator):]
		if (after == "" || after[0] == '/') && strings.EqualFold(path[at:at+len(separator)], separator) {
			return path[:at], after, true
		}
	}
	return path, "", false
}

// act applies the request to one entity.
func (q *query) act(get func() (entry, error), remove func() error, put func(content) (entry, error)) {
	var e entry
	var err error
	status := http.StatusOK
	switch q.r.Method {
	case http.MethodGet, http.MethodHead:
		e, err = get()
	case http.MethodDelete:
		if !q.failed(remove()) {
			q.w.WriteHeader(status)
		}
		return
	case http.MethodPut:
		var c content
		if c, err = decodeEntry(q.r.Body); err == nil {
			e, err = put(c)
		}
		if !q.updating() {
			status = http.StatusCreated
		}
	default:
		q.notAllowed()
		return
	}
	if !q.failed(err) {
		writeEntry(q.w, status, e)
	}
}

// updating reports whether a PUT updates an existing entity. Otherwise it creates one.
func (q *query) updating() bool { return q.r.Header.Get("If-Match") != "" }

// failed answers with an error, if there is one.
func (q *query) failed(err error) bool {
	if err == nil {
		return false
	}
	detail := err.Error()
	status := statusOf(err)
	if status != http.StatusNotFound || q.r.Method != http.MethodGet { // a failed existence check is not an error
		q.explain(q.r, administering, strings.Trim(q.r.URL.Path, "/"), err)
	}
	if status == http.StatusConflict {
		detail = "SubCode=40900. " + detail
	}
	writeError(q.w, status, detail)
	return true
}

func (q *query) notAllowed() {
	writeError(q.w, http.StatusMethodNotAllowed, "The method "+q.r.Method+" is not supported.")
}

// host is the name and port by which the client knows the emulator.
func (q *query) host() string { return q.r.Host }

// url returns the URL of a path.
func (q *query) url(path string) string {
	version := cmp.Or(q.r.URL.Query().Get("api-version"), "2021-05")
	u := url.URL{Scheme: "https", Host: q.host(), Path: "/" + path, RawQuery: url.Values{"api-version": {version}}.Encode()}
	return u.String()
}

// self is the URL of the request, which is the id of a feed: there are clients that look for their path in it.
func (q *query) self() string {
	u := url.URL{Scheme: "https", Host: q.host(), Path: q.r.URL.Path, RawPath: q.r.URL.RawPath, RawQuery: q.r.URL.RawQuery}
	return u.String()
}

// The sizes of a page.
const (
	defaultPage = 100
	maxPage     = 1000
)

// page returns the requested range of a list of n elements.
func (q *query) page(n int) (from, to int) {
	values := q.r.URL.Query()
	skip, err := strconv.Atoi(values.Get("$skip"))
	if err != nil || skip < 0 {
		skip = 0
	}
	top, err := strconv.Atoi(values.Get("$top"))
	if err != nil || top <= 0 {
		top = defaultPage
	}
	from = min(skip, n)
	return from, min(from+min(top, maxPage), n)
}

// writeFeed responds with the requested part of a list and a link to the next part.
func (q *query) writeFeed(title string, n int, element func(int) entry) {
	if q.r.Method != http.MethodGet {
		q.notAllowed()
		return
	}
	from, to := q.page(n)
	f := feed{
		Space: atomSpace, ID: q.self(), Title: text{"text", title}, Updated: stamp(time.Now()), Links: []link{{"self", q.self()}},
	}
	for i := from; i < to; i++ {
		f.Entries = append(f.Entries, element(i))
	}
	if to < n {
		next := url.Values{"$skip": {strconv.Itoa(to)}, "$top": {strconv.Itoa(to - from)}}
		f.Links = append(f.Links, link{"next", q.url(strings.Trim(q.r.URL.Path, "/")) + "&" + next.Encode()})
	}
	writeXML(q.w, http.StatusOK, "application/atom+xml;type=feed;charset=utf-8", f)
}

// namespaceInfo describes the only namespace.
type namespaceInfo struct {
	spaces

	Alias          string `xml:"Alias,omitempty"`
	CreatedTime    string `xml:"CreatedTime"`
	MessagingSKU   string `xml:"MessagingSKU"`
	MessagingUnits int    `xml:"MessagingUnits"`
	ModifiedTime   string `xml:"ModifiedTime"`
	Name           string `xml:"Name"`
	NamespaceType  string `xml:"NamespaceType"`
}

func (q *query) namespace(started time.Time) {
	if q.r.Method != http.MethodGet {
		q.notAllowed()
		return
	}
	writeEntry(q.w, http.StatusOK, q.newEntry("$namespaceinfo", broker.NamespaceName, started, started, content{Namespace: &namespaceInfo{
		spaces:         newSpaces(),
		CreatedTime:    stamp(started),
		MessagingSKU:   string(cmp.Or(q.broker.Tier(), broker.Premium)), // which has the fewest quotas
		MessagingUnits: 1,
		ModifiedTime:   stamp(started),
		Name:           broker.NamespaceName,
		NamespaceType:  "Messaging",
	}}))
}
