package web

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/actions/payload"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// The limits of a request, in characters where nothing else is said (Azure
// Scheduler Limits, Defaults, and Error Codes). The last three are Carillon's.
const (
	maxURI         = 2048
	maxRequestBody = 8192

	maxRedirects     = 20
	defaultRedirects = 10
	maxContains      = 1024
)

// methods are the request methods, in canonical spelling. Jobs may write them
// in any letter case.
var methods = []string{
	http.MethodGet, http.MethodPut, http.MethodPost, http.MethodPatch,
	http.MethodDelete, http.MethodHead, http.MethodOptions,
}

// request is the member request of an action, read and found valid.
type request struct {
	uri       *url.URL
	method    string
	header    http.Header            // canonical names, without Host and secrets
	secrets   []payload.SecretHeader // those whose values are secrets
	host      string                 // the job's Host header; empty: the uri's host
	body      payload.Content
	auth      authentication // nil: none
	webhook   webhook        // nil: requests are not signed
	success   scheduler.StatusSet
	custom    bool   // success is the job's own, not the default
	contains  []byte // request.success.bodyContains; empty: anything will do
	redirects int    // most redirects to follow
}

// envelopes are those that a request may have.
var envelopes = []payload.Envelope{payload.CloudEvents, payload.CloudEventsBinary}

// read reads the member request of the action o and reports every problem; it
// returns false when there was one. secure asks for https.
func (r *request) read(c *Client, o *document.Object, secure bool) bool {
	return payload.ReadMember(o, member, func(ro *document.Object) {
		r.readTarget(ro, secure)
		r.readHeaders(ro)
		r.body = payload.Read(o, ro, payload.Rules{
			Member: "body", MaxSize: maxRequestBody,
			Envelopes: envelopes, Region: c.config.Region,
		})
		if !ro.Reader().Stored && strings.HasSuffix(payload.MediaType(r.header.Get(headerContentType)), "json") && r.body.BreaksJSON() {
			ro.Warn("body", "makes invalid JSON, at the latest of a text with quotation marks: write values as {{json .Failure.Reason}}")
		}
		r.readSuccess(ro)
		r.readRedirects(ro)
		r.readAuthentication(c, ro)
		r.readWebhook(ro)
	})
}

func (r *request) readTarget(o *document.Object, secure bool) {
	if text, ok := o.String("uri"); ok {
		u, err := parseURI(text, secure)
		if err != nil {
			o.Problem("uri", "%v", err)
		}
		r.uri = u
	}
	r.method, _ = o.Enum("method", methods...)
	o.Require("uri")
	o.Require("method")
}

func (r *request) readRedirects(o *document.Object) {
	r.redirects = defaultRedirects
	if n, ok := o.Int("redirects", 0, maxRedirects); ok {
		r.redirects = int(n)
	}
}

// readSuccess reads what makes an answer a success. The default is any 2xx.
func (r *request) readSuccess(o *document.Object) {
	so, ok := o.Object("success")
	if ok {
		defer so.Done()
		r.readStatus(so)
		r.readContains(so)
	}
	if !r.custom {
		r.success.Add(http.StatusOK, 299)
	}
}

func (r *request) readStatus(o *document.Object) {
	r.success, r.custom = scheduler.ReadStatuses(o, "status")
	if v, _ := o.Value("status"); r.custom && len(v.Items()) == 0 {
		o.Problem("status", "must name at least one status")
	}
}

func (r *request) readContains(o *document.Object) {
	text, ok := o.String("bodyContains")
	if !ok || text == "" {
		return
	}
	r.contains = []byte(text)
	if n := utf8.RuneCountInString(text); n > maxContains {
		o.Problem("bodyContains", "is %d characters long, at most %d are allowed", n, maxContains)
	}
	if r.method == http.MethodHead {
		o.Problem("bodyContains", "does not go with HEAD, whose answer has no body")
	}
}
