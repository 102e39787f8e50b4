package edit_test

import (
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
	"github.com/carillon-sched/carillon/scheduler/console/edit"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// fields is the form of a page, with what a browser sends of it.
func fields(tb testing.TB, page string) url.Values {
	tb.Helper()
	for _, f := range consoletest.Forms(tb, page) {
		if f.Values.Has("schedule.when") {
			return f.Values
		}
	}
	tb.Fatalf("there is no form in %.3000s", page)
	return nil
}

// filled is the form of a new job, filled in.
func filled(tb testing.TB, w *consoletest.Harness, changes ...string) url.Values {
	tb.Helper()
	form := fields(tb, w.Get(edit.NewPath))
	form.Set("name", "report")
	form.Set("action.request.uri", "http://127.0.0.1:9/report")
	form.Set("do", "save")
	for _, c := range changes {
		name, value, _ := strings.Cut(c, "=")
		form.Set(name, value)
	}
	return form
}

// TestFirstAttempt makes a job without a script, and sees it run.
func TestFirstAttempt(t *testing.T) {
	w := consoletest.New(t)
	w.Work()
	r := w.Post(edit.NewPath, filled(t, w, "action.request.uri="+w.Target(), "schedule.when=once", "schedule.plain.once="))
	if r.Status != http.StatusSeeOther || r.Header.Get("Location") != "/console/jobs/default/report" {
		t.Fatalf("%d %v %.3000s", r.Status, r.Header, r.Body)
	}
	w.Await("the first attempt", func() bool {
		return slices.ContainsFunc(w.History("default/report"), func(r *scheduler.Record) bool { return r.Outcome == scheduler.OutcomeCompleted })
	})
}

// TestScript makes a job as the script does: it is led on by the answer.
func TestScript(t *testing.T) {
	w := consoletest.Shared(t)
	r := w.Post(edit.NewPath, filled(t, w), "X-Carillon-Part: 1")
	if r.Status != http.StatusNoContent || r.Header.Get("X-Carillon-Go") != "/console/jobs/default/report" {
		t.Fatalf("%d %.3000s", r.Status, r.Body)
	}
	v := w.Job("default/report")
	w.Has(string(v.Job.Def.Properties()), `"cron":"0 9 * * *"`)
}

// TestNothingIsOverwritten makes a job of a name that there is: it stays, and the name is told to be taken.
func TestNothingIsOverwritten(t *testing.T) {
	w := consoletest.Shared(t)
	w.Put("default/report", `{"action": {"type": "http", "request": {"method": "GET", "uri": "http://127.0.0.1:9/old"}}, "startTime": "2039-01-01"}`)
	r := w.Post(edit.NewPath, filled(t, w))
	if r.Status != http.StatusPreconditionFailed || !strings.Contains(html.UnescapeString(r.Body), "Job report already exists in collection default") {
		t.Errorf("%d %.5000s", r.Status, r.Body)
	}
	v := w.Job("default/report")
	w.Has(string(v.Job.Def.Properties()), "/old")
}

// TestMistakes has all mistakes of a form at once, each beside its field, and nothing is made.
func TestMistakes(t *testing.T) {
	w := consoletest.Shared(t)
	r := w.Post(edit.NewPath, filled(t, w, "name=9 lives", "action.request.uri=", "schedule.when=cron", "schedule.recurrence.cron=0 0 32 * *", "schedule.jitter=2d"))
	text := html.UnescapeString(r.Body)
	w.Has(text,
		`href="#f-name"`, `href="#f-action.request.uri"`, `href="#wrong-schedule.recurrence.cron"`, `href="#wrong-schedule.jitter"`,
		`<mark>32</mark>`, "Fix 4 problems:",
	)
	if r.Status != http.StatusUnprocessableEntity || t.Failed() {
		t.Errorf("%d %s", r.Status, text)
	}
	jobs, _, err := w.Service.Search(t.Context(), scheduler.JobQuery{Collections: []string{"default"}}, v1.Page{})
	if err != nil || len(jobs) > 0 {
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
}

// TestHints: what is required, and a choice that has the default as a word, do not say once more what holds without it.
func TestHints(t *testing.T) {
	w := consoletest.Shared(t)
	page := html.UnescapeString(w.Get(edit.NewPath))
	w.Has(page, "The collection of the job.</p>", "Default: enabled</option>", "in either state.</p>", "Default: none.",
		"!Default: default.", "!Default: as it is")
}

// TestTypedSecrets types secrets and a mistake: neither the page nor the part that a script gets has them, and both say so.
func TestTypedSecrets(t *testing.T) {
	w := consoletest.Shared(t)
	const secret = "correct-horse-battery-staple"
	form := filled(t, w, "action.request.authentication.type=Basic", "name=")
	form.Set("do", "retype:action.request.authentication.type")
	form = fields(t, w.Post(edit.NewPath, form).Body)
	form.Set("action.request.authentication.username", "me")
	form.Set("action.request.authentication.password~how", "text")
	form.Set("action.request.authentication.password~text", secret)
	form.Set("action.request.headers#0~name", "X-Api-Key")
	form.Set("action.request.headers#0~how", "text")
	form.Set("action.request.headers#0~value", secret)
	for _, do := range []string{"save", "check", "show"} {
		for _, name := range []string{"", "report"} {
			if do == "save" && name != "" {
				continue
			}
			form.Set("do", do)
			form.Set("name", name)
			for _, headers := range [][]string{nil, {"X-Carillon-Part: 1"}} {
				r := w.Post(edit.NewPath, form, headers...)
				w.Has(r.Body, "!"+secret, "Type them again")
				if do == "show" && name != "" && !strings.Contains(html.UnescapeString(r.Body), "password</code>") {
					t.Errorf("it does not say where secrets belong: %.3000s", r.Body)
				}
			}
		}
	}
	form.Set("do", "save")
	form.Set("name", "report")
	w.Wants(http.StatusSeeOther, w.Post(edit.NewPath, form))
	r := w.Get(edit.NewPath + "?from=default/report")
	if strings.Contains(r, secret) || !strings.Contains(r, "without its secrets") || !strings.Contains(r, "X-Api-Key") && !strings.Contains(r, "9/report") {
		t.Errorf("%.5000s", r)
	}
}

// TestCopy begins with another job, and makes one like it.
func TestCopy(t *testing.T) {
	w := consoletest.Shared(t)
	w.Collect("billing")
	w.Put("billing/nightly", `{"description": "<b>books</b>", "labels": {"team": "billing"}, "timeZone": "Europe/Berlin", "recurrence": {"cron": "30 2 * * MON-FRI"},
		"jitter": "PT30S", "action": {"type": "http", "request": {"method": "POST", "uri": "http://127.0.0.1:9/books", "body": "{}"}, "retryPolicy": {"retryType": "none"}}}`)
	page := w.Get(edit.NewPath + "?from=billing/nightly")
	w.Has(page, "!<b>books")
	form := fields(t, page)
	if form.Get("collection") != "billing" || form.Get("name") != "" || form.Get("schedule.when") != "weekdays" || form.Get("schedule.plain.times") != "02:30" {
		t.Errorf("%v", form)
	}
	form.Set("name", "weekly")
	form.Set("do", "save")
	w.Wants(http.StatusSeeOther, w.Post(edit.NewPath+"?from=billing/nightly", form))
	old := w.Job("billing/nightly")
	made := w.Job("billing/weekly")
	if len(document.Difference("", old.Job.Def.Document(), made.Job.Def.Document())) > 0 {
		t.Errorf("got %s\nwant %s", made.Job.Def.Properties(), old.Job.Def.Properties())
	}
}

// TestRightsToCreate: who may make jobs somewhere gets the page with these collections, and nobody makes one elsewhere.
func TestRightsToCreate(t *testing.T) {
	w := consoletest.Shared(t)
	w.Collect("billing")
	w.Collect("partners")
	w.Put("partners/theirs", `{"action": {"type": "http", "request": {"method": "POST", "uri": "http://127.0.0.1:9/theirs"}}, "startTime": "2039-01-01"}`)
	w.Be("operator@billing")
	form := filled(t, w)
	if got := form.Get("collection"); got != "billing" {
		t.Errorf("the collection is %s", got)
	}
	form.Set("collection", "partners")
	for _, do := range []string{"save", "check", "show"} {
		form.Set("do", do)
		w.Wants(http.StatusForbidden, w.Post(edit.NewPath, form))
	}
	w.Wants(http.StatusForbidden, w.Do(http.MethodGet, edit.NewPath+"?from=partners/theirs", ""))
	w.Be("reader")
	w.Wants(http.StatusForbidden, w.Do(http.MethodGet, edit.NewPath, ""))
	w.Wants(http.StatusOK, w.Post("/console/preview", url.Values{"schedule.when": {"daily"}, "schedule.plain.times": {"9"}}, "X-Carillon-Part: 1"))
	w.Be()
	w.Wants(http.StatusForbidden, w.Post("/console/preview", url.Values{}))
}

// TestHostileText fills all fields with markup: it comes back as text.
func TestHostileText(t *testing.T) {
	w := consoletest.Shared(t)
	for _, text := range []string{`"><script>alert(1)</script>`, `</textarea></select><img src=x onerror=alert(1)>`, "\u202e{{.}}`${1}"} {
		form := filled(t, w)
		for name := range form {
			if name != "do" && name != "schedule.when" {
				form.Set(name, text)
			}
		}
		for _, when := range []string{"every", "daily", "weekly", "monthly", "yearly", "once", "asked", "events", "cron", "rrule", "azure"} {
			form.Set("schedule.when", when)
			for _, path := range []string{edit.NewPath, "/console/preview"} {
				r := w.Post(path, form)
				w.Has(r.Body, "!<script>alert", "!<img src=x")
				if r.Status >= http.StatusInternalServerError {
					t.Errorf("%s %s: %d", path, when, r.Status)
				}
			}
		}
	}
}

// TestPreviewPart has what a script gets: where things belong, and other fields once something was pasted.
func TestPreviewPart(t *testing.T) {
	w := consoletest.Shared(t)
	ask := func(form url.Values) string {
		r := w.Post("/console/preview", form, "X-Carillon-Part: 1")
		if r.Status != http.StatusOK {
			t.Fatalf("%d %s", r.Status, r.Body)
		}
		return html.UnescapeString(r.Body)
	}
	w.Has(w.Get(edit.NewPath), "Range: 0 to 20.", "Default: enabled<")
	got := ask(url.Values{"schedule.when": {"daily"}, "schedule.plain.times": {"9"}, "schedule.timeZone": {"Europe/Berlin"}})
	w.Has(got, `data-put="schedule-outlook"`, "At 09:00 every day, Europe/Berlin.", "0 9 * * *", "<svg", "class=\"heat2\"",
		"!schedule-builder")
	got = ask(url.Values{"schedule.when": {"daily"}, "schedule.paste": {"*/5 * * * * /usr/bin/true"}})
	w.Has(got, `data-put="schedule-builder"`, `value="*/5 * * * *"`)
	w.Has(got, `<option value="year">years</option>`, `value="monday"> Monday<`)
	got = ask(url.Values{"schedule.when": {"cron"}, "schedule.recurrence.cron": {"0 0 32 * *"}})
	w.Has(got, `data-wrong="schedule.recurrence.cron"`, "<mark>32</mark>", "Fix 1 problem")
}

// TestDuplicate follows the link of a job's page.
func TestDuplicate(t *testing.T) {
	w := consoletest.Shared(t)
	w.Put("default/report", `{"action": {"type": "http", "request": {"method": "POST", "uri": "http://127.0.0.1:9/report"}}, "startTime": "2039-01-01"}`)
	page := w.Get("/console/jobs/default/report")
	_, link, _ := strings.Cut(page, `href="/console/jobs/new?from=`)
	link, _, ok := strings.Cut(link, `"`)
	if !ok || !strings.Contains(w.Get(edit.NewPath+"?from="+html.UnescapeString(link)), "This is a copy of default/report") {
		t.Errorf("%q of %.3000s", link, page)
	}
	w.Be("reader")
	w.Has(w.Get("/console/jobs/default/report"), "!/console/jobs/new")
}

// TestTry tries a job out that has no name yet, and a schedule with a mistake: the target is asked once, its answer is shown
// as text and without the secret, and nothing is stored.
func TestTry(t *testing.T) {
	w := consoletest.Shared(t)
	const secret = "correct-horse-battery-staple"
	var asked atomic.Int64
	target := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		out.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(out, `<script>alert("`+r.Header.Get("X-Api-Key")+`")</script>`)
	}))
	defer target.Close()
	form := filled(t, w, "name=", "do=try", "action.request.uri="+target.URL, "schedule.when=cron", "schedule.recurrence.cron=0 0 32 * *",
		"action.request.headers#1~name=X-Api-Key", "action.request.headers#1~how=text", "action.request.headers#1~value="+secret)
	r := w.Post(edit.NewPath, form)
	w.Has(r.Body, "418", "&lt;script&gt;alert(", "Response of the target", "failed")
	if r.Status != http.StatusOK || asked.Load() != 1 || strings.Contains(r.Body, secret) || strings.Contains(r.Body, "<script>alert") || t.Failed() {
		t.Errorf("%d, asked %d times: %s", r.Status, asked.Load(), r.Body)
	}
	form.Set("action.request.uri", "nowhere")
	w.Wants(http.StatusUnprocessableEntity, w.Post(edit.NewPath, form), `href="#f-action.request.uri"`)
	w.Put("default/report", `{"action": {"type": "http", "request": {"method": "POST", "uri": "http://127.0.0.1:9/report"}}, "startTime": "2039-01-01"}`)
	form.Set("action.request.uri", target.URL)
	form.Set("name", "report")
	if r := w.Post(edit.NewPath, form); r.Status != http.StatusPreconditionFailed || asked.Load() != 1 {
		t.Errorf("the name of another: %d, asked %d times", r.Status, asked.Load())
	}
	w.Collect("billing")
	w.Be("operator@billing")
	if r := w.Post(edit.NewPath, form); r.Status != http.StatusForbidden || asked.Load() != 1 {
		t.Errorf("elsewhere: %d, asked %d times", r.Status, asked.Load())
	}
	jobs, _, err := w.Service.Search(t.Context(), scheduler.JobQuery{Collections: []string{"default"}}, v1.Page{})
	if err != nil || len(jobs) != 1 {
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
}

// TestTryErrorAction tries out what is done after a failure, alone and as one of two, with a mistake in it first.
func TestTryErrorAction(t *testing.T) {
	w := consoletest.Shared(t)
	asked := make(chan string, 9)
	target := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked <- r.URL.Path + " " + string(body)
		_, _ = io.WriteString(out, `{"told": "<b>"}`)
	}))
	defer target.Close()
	form := filled(t, w)
	post := func(do string, status int, texts ...string) {
		t.Helper()
		form.Set("do", do)
		r := w.Post(edit.NewPath, form)
		if r.Status != status {
			t.Fatalf("%s: %d %.3000s", do, r.Status, r.Body)
		}
		for _, text := range texts {
			w.Has(r.Body, text)
		}
		if status != http.StatusBadRequest {
			form = fields(t, r.Body)
		}
	}
	sent := func(want string) {
		t.Helper()
		if got := <-asked; got != want {
			t.Errorf("the target was sent %q, want %q", got, want)
		}
	}
	const first, second = "action.errorAction[0].", "action.errorAction[1]."
	post("add:action.errorAction", http.StatusOK)
	form.Set(first+"type", "Http")
	post("retype:"+first+"type", http.StatusOK)
	form.Set(first+"request.method", "PUT")
	form.Set(first+"request.uri", "nowhere")
	post("try:action.errorAction", http.StatusUnprocessableEntity, `href="#f-action.errorAction[0].request.uri"`)
	form.Set(first+"request.uri", target.URL+"/first")
	form.Set(first+"request.template", "true")
	form.Set(first+"request.body", "it said {{.Failure.Message}}")
	post("try:action.errorAction", http.StatusOK, "{\n  &#34;told&#34;: &#34;&lt;b&gt;&#34;\n}", "200", "<p class=\"wrap\" dir=\"auto\">OK</p>")
	sent("/first it said ")
	post("add:action.errorAction", http.StatusOK)
	form.Set(second+"type", "Http")
	post("retype:"+second+"type", http.StatusOK)
	form.Set(second+"request.method", "PUT")
	form.Set(second+"request.uri", target.URL+"/second")
	post("try:action.errorAction[1]", http.StatusOK, "told")
	sent("/second ")
	for _, nothing := range []string{"try:action.errorAction[7]", "try:labels", "try:action.request"} {
		post(nothing, http.StatusBadRequest)
	}
	if len(asked) > 0 {
		t.Errorf("the target was sent %q", <-asked)
	}
}

// azureJob is a job as Azure Scheduler has it, with a secret.
const azureJob = `{"id": "/subscriptions/x", "type": "Microsoft.Scheduler/jobCollections/jobs", "name": "old/nightly", "properties": {
	"startTime": "2039-12-01T09:00:00Z",
	"action": {"type": "Http", "request": {"method": "PUT", "uri": "http://127.0.0.1:9/night", "body": "dark",
		"authentication": {"type": "Basic", "username": "owl", "password": "correct-horse"}},
		"retryPolicy": {"retryType": "Fixed", "retryInterval": "PT1M", "retryCount": 3}},
	"recurrence": {"frequency": "Week", "interval": 1, "schedule": {"weekDays": ["Monday"], "hours": [9], "minutes": [30]}},
	"state": "Disabled"}}`

// TestPastedJob pastes a whole job where schedules are: all of it is taken over, not its schedule alone, and what a page shows
// then makes that job. Its secret is on no page.
func TestPastedJob(t *testing.T) {
	w := consoletest.Shared(t)
	form := filled(t, w, "name=", "action.request.uri=http://127.0.0.1:9/typed-before", "schedule.paste="+azureJob)
	r := w.Post(edit.NewPath, form)
	if page := html.UnescapeString(r.Body); r.Status != http.StatusOK || !strings.Contains(page, "The form now contains the pasted job") || !strings.Contains(page, "Its secrets are omitted") ||
		!strings.Contains(page, "every Monday") || strings.Contains(page, "correct-horse") || strings.Contains(page, "typed-before") {
		t.Fatalf("%d %.6000s", r.Status, page)
	}
	form = fields(t, r.Body)
	form.Set("action.request.authentication.password~text", "correct-horse")
	form.Set("do", "save")
	if r = w.Post(edit.NewPath, form); r.Status != http.StatusSeeOther {
		t.Fatalf("%d %.6000s", r.Status, r.Body)
	}
	v := w.Job("default/nightly")
	stored := string(v.Job.Def.Properties())
	w.Has(stored, `"PUT"`, `/night`, `"dark"`, `"owl"`, `"2039-12-01T09:00:00Z"`, `"weekDays":["Monday"]`, `"retryCount":3`)
	if v.Job.State != "disabled" {
		t.Errorf("it is %s", v.Job.State)
	}
}

// TestPastedMistakes pastes a job that cannot be: what is wrong is told, also of what the form has no field for.
func TestPastedMistakes(t *testing.T) {
	w := consoletest.Shared(t)
	for pasted, want := range map[string]string{
		`{"action": {"type": "http", "request": {"method": "GET", "uri": "nowhere"}}}`:                                   "action.request.uri",
		"action:\n  type: http\n  request: {method: GET, uri: 'http://127.0.0.1:9/'}\nrecurrings: {frequency: day}":      "recurrings",
		`{"recurrence": {"cron": "0 9 * * MUN"}, "action": {"type": "http", "request": {"uri": "http://127.0.0.1:9/"}}}`: "MUN",
	} {
		r := w.Post(edit.NewPath, filled(t, w, "schedule.paste="+pasted))
		if page := html.UnescapeString(r.Body); r.Status != http.StatusUnprocessableEntity || !strings.Contains(page, `id="wrong"`) ||
			!strings.Contains(page, want) {
			t.Errorf("%s: %d %.4000s", pasted, r.Status, page)
		}
	}
}

// TestCopiedCommands has the page show a job as a file and as a request: what carillon apply would replace in a text stands for
// itself, and who has signed in is asked for a token.
func TestCopiedCommands(t *testing.T) {
	w := consoletest.Shared(t)
	form := filled(t, w, "do=show", "action.request.body=it's ${CARILLON_HOME} $(date)")
	for _, who := range []string{"", "operator"} {
		if who != "" {
			w.Be(who)
		}
		page := html.UnescapeString(w.Post(edit.NewPath, form).Body)
		w.Has(page, "it's $${CARILLON_HOME} $(date)", `"body":"it's ${CARILLON_HOME} $(date)"`)
		if strings.Contains(page, `Bearer $CARILLON_TOKEN"`) != (who != "") {
			t.Errorf("as %q: the request has a token, or none: %.3000s", who, page)
		}
	}
}
