package job_test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
)

// TestRequest shows what each attempt asked for, without values of a query, and what was answered, once.
func TestRequest(t *testing.T) {
	w := consoletest.New(t)
	w.Work()
	target := w.Target()
	put := func(path string) {
		w.Put("default/charge", `{`+yearly+`, "action": {"type": "http", "request": {"method": "POST", "uri": "`+target+path+`"},
			"retryPolicy": {"retryType": "none"}, "errorAction": {"type": "http", "request": {"method": "PUT", "uri": "`+target+`/tell"}}}}`)
	}
	put("/charge?fail=hunter2&run=7")
	w.Run("default/charge")
	await(t, w, "default/charge", scheduler.OutcomeFaulted, 1)
	const path = "/console/jobs/default/charge"
	history := w.Part(path)
	w.Has(history, "POST "+target+"/charge?fail=…&amp;run=…", "PUT "+target+"/tell", "418 I&#39;m a teapot: hello")
	w.HasNone(history, "hunter2", "current request", "Response Headers", "Content-Length")
	if n := strings.Count(history, "<bdi>hello</bdi>"); n != 2 {
		t.Errorf("two answers are shown %d times", n)
	}
	_, at, _ := strings.Cut(w.History("default/charge")[0].Occurrence, "@")
	run := html.UnescapeString(w.Get(path + "/runs/" + at))
	w.Has(run, "POST "+target+"/charge?fail=…&run=…", "Response headers", "Content-Length: 5")
	w.HasNone(run, "hunter2")
	w.OK(w.Service.Pause(t.Context(), consoletest.Key("default/charge"), "2h"))
	w.HasNone(w.Part(path), "the job changed after this") // a pause changes no request
	put("/elsewhere")
	w.Has(w.Part(path), "POST "+target+"/elsewhere", "current request; the job changed after this attempt")
	w.OK(w.Service.Delete(t.Context(), consoletest.Key("default/charge"), 0))
}

// TestCurl has a command for each attempt over HTTP: of the request as the job has it now, with neither secrets nor values of a query.
func TestCurl(t *testing.T) {
	w := consoletest.New(t)
	w.Work()
	target := w.Target()
	put := func(body string) {
		w.Put("default/curl", `{`+yearly+`, "action": {"type": "http", "request": {"method": "POST", "uri": "`+target+`/x?fail=hunter2",
			"headers": {"Authorization": "Bearer hunter3", "X-Team": "it's"}, "body": `+body+`}, "retryPolicy": {"retryType": "none"},
			"errorAction": [{"type": "http", "request": {"method": "GET", "uri": "`+target+`/a"}},
				{"type": "http", "request": {"method": "PUT", "uri": "`+target+`/b?fail"}}]}}`)
	}
	put(`"{\"a\": 'b'}\n<"`)
	w.Run("default/curl")
	await(t, w, "default/curl", scheduler.OutcomeFaulted, 1)
	_, at, _ := strings.Cut(w.History("default/curl")[0].Occurrence, "@")
	const path = "/console/jobs/default/curl"
	run := w.Get(path + "/runs/" + at)
	w.HasNone(run, "hunter", "the job changed after")
	w.Has(html.UnescapeString(run), "curl -g -X POST '"+target+"/x?fail=…' \\\n"+
		"  -H 'Authorization: (secret)' \\\n  -H 'X-Team: it'\\''s' \\\n"+
		"  -H 'Content-Type: text/plain; charset=utf-8' \\\n  --data-raw '{\"a\": '\\''b'\\''}\n<'</code>",
		"curl -g -X GET '"+target+"/a'</code>", "Templates are not expanded.", `data-copy="curl-`)
	w.HasNone(w.Part(path), "curl -g")
	put(`"new"`)
	w.Has(w.Get(path+"/runs/"+at), "the job changed after this attempt) Templates", "--data-raw &#39;new&#39;")
}

// TestCancel cancels a run that waits for its retry, on the page of the job. Readers cannot, and an ended run cannot be canceled.
func TestCancel(t *testing.T) {
	w := consoletest.New(t)
	w.Work()
	w.Put("default/broken", `{`+yearly+`, "action": {"type": "http", "request": {"method": "GET", "uri": "http://127.0.0.1:1/"},
		"retryPolicy": {"retryInterval": "PT1H"}}}`)
	const path = "/console/jobs/default/broken"
	w.HasNone(w.Get(path), "Cancel run")
	w.Run("default/broken")
	await(t, w, "default/broken", scheduler.OutcomeFailed, 1)
	_, at, _ := strings.Cut(w.History("default/broken")[0].Occurrence, "@")
	for _, page := range []string{path, path + "/runs/" + at} {
		w.Has(w.Get(page), "Cancel run…", `action="`+path+`/cancel"`, `name="reason"`)
		w.Be("reader")
		w.HasNone(w.Get(page), "Cancel run")
		w.Wants(http.StatusForbidden, w.Post(path+"/cancel", nil))
		w.Anonymous()
	}
	w.Has(w.Get(path+"/runs/"+at), "another attempt follows")
	form := url.Values{"occurrence": {"default/broken@" + at}, "reason": {"wrong month"}}
	w.Wants(http.StatusSeeOther, w.Post(path+"/cancel", form))
	await(t, w, "default/broken", scheduler.OutcomeFaulted, 1)
	w.Has(w.Get(path+"/runs/"+at), "canceled by", "wrong month", "!another attempt")
	page := w.Get(path)
	w.Has(page, "canceled by", "wrong month")
	w.HasNone(page, "Cancel run…")
	w.Wants(http.StatusConflict, w.Post(path+"/cancel", form))
}
