package edit_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
	"github.com/carillon-sched/carillon/scheduler/control"
)

func TestMain(m *testing.M) { consoletest.Main(m) }

const simple = `{"recurrence": {"frequency": "day"}, "action": {"type": "Http", "request": {"method": "GET", "uri": "http://x.example/"}}}`

// guarded is a job with secrets in all places.
const guarded = `{"recurrence": {"frequency": "day"}, "action": {"type": "Http", "request": {"method": "POST", "uri": "https://x.example/",
	"headers": {"Api-Key": "stored-in-header", "Accept": "text/plain"}, "body": "hello",
	"authentication": {"type": "Basic", "username": "me", "password": "stored-password"},
	"webhook": {"secret": "whsec_c3RvcmVkLWluLXdlYmhvb2stMTIzNDU2Nzg="}}}}`

var storedSecrets = []string{"stored-in-header", "stored-password", "c3RvcmVkLWluLXdlYmhvb2s"}

// TestExamplesStay shows each example in both ways, and asks what would change.
func TestExamplesStay(t *testing.T) {
	w := consoletest.Shared(t)
	for _, name := range []string{"partner-pfx", "partner-password", "echo-api-key"} {
		w.OK(w.Service.PutSecret(t.Context(), name, []byte(`{"value": "c2VjcmV0"}`)))
	}
	count, every := 0, 1
	if testing.Short() || bubble.RaceDetector {
		every = 4 // TestExamplesStay of package jobform has all of them
	}
	for _, folder := range []string{"jobs", "actions", "authentication", "schedules"} {
		files := must.Get(filepath.Glob("../../../examples/" + folder + "/*"))(t)
		for i, file := range files {
			count++
			if i%every != 0 {
				continue
			}
			name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
			data := must.Get(os.ReadFile(file))(t)
			text := strings.NewReplacer("${CARILLON_ECHO}", "http://echo.example", "PT2S", "PT20S").Replace(string(data))
			if name == "failing" || name == "retry" {
				text = strings.ReplaceAll(text, "PT10S", "PT15S")
			}
			t.Run(name, func(t *testing.T) {
				k := "default/" + name
				w.OK(w.Service.Put(t.Context(), control.Edit{Key: consoletest.Key(k), Body: []byte(text)}))
				p := open(t, w, k, "form") // from one to the other, and back
				for _, turn := range []string{"as:yaml", "as:form"} {
					p.press(turn)
					p.gets(http.StatusOK, "review")
					p.has("No changes.")
				}
			})
		}
	}
	if count < 20 {
		t.Errorf("%d examples", count)
	}
}

// TestChange changes fields, looks at what will be different, and saves it.
func TestChange(t *testing.T) {
	w := consoletest.Shared(t)
	w.Put("default/a", guarded)
	p := open(t, w, "default/a", "form", storedSecrets...)
	p.set("description", "as typed\r\nin two lines", "action.request.uri", "https://x.example/other", "timeout", "PT2M",
		"schedule.plain.n", "2")
	p.gets(http.StatusOK, "review")
	p.has("Changes</h2>", "action.request.uri", "https://x.example/other", "recurrence.interval", "as typed\nin two lines", `value="save"`)
	w.Has(job(t, w, "default/a").String(), "!other")
	p.gets(http.StatusSeeOther, "save")
	now := job(t, w, "default/a")
	w.Has(now.String(), `"description":"as typed\nin two lines"`, `"uri":"https://x.example/other"`, `"timeout":"PT2M"`, `"interval":2`)
	if secret(now, "action.request.authentication.password") != "stored-password" || secret(now, "action.request.headers.Api-Key") != "stored-in-header" {
		t.Error("secrets are lost")
	}
}

// TestSaveIsOfWhatWasShown changes something after the review.
func TestSaveIsOfWhatWasShown(t *testing.T) {
	w := consoletest.Shared(t)
	w.Put("default/a", simple)
	p := open(t, w, "default/a", "form")
	p.set("description", "first")
	p.press("review")
	p.set("description", "second")
	p.gets(http.StatusOK, "save")
	p.has("This differs from the reviewed change", "second")
	p.gets(http.StatusSeeOther, "save")
	w.Has(job(t, w, "default/a").String(), "second")
}

// TestProblems shows problems beside their fields, with what was typed.
func TestProblems(t *testing.T) {
	w := consoletest.Shared(t)
	w.Put("default/a", simple)
	p := open(t, w, "default/a", "form")
	p.set("action.request.uri", "not a uri", "action.retryPolicy.retryCount", "many", "timeout", "3 weeks", "schedule.plain.n", "0")
	p.gets(http.StatusBadRequest, "review")
	p.set("schedule.plain.n", "1")
	p.gets(http.StatusBadRequest, "review")
	for _, path := range []string{"action.request.uri", "action.retryPolicy.retryCount", "timeout"} {
		p.has(`id="f-`+path+`-wrong"`, `href="#f-`+path+`"`)
	}
	p.has(`value="not a uri"`, `value="many"`, `value="3 weeks"`, `aria-invalid="true"`)
	p.set("action.request.uri", "http://y.example/", "action.retryPolicy.retryCount", "2", "timeout", "PT3S")
	p.save()
}

// TestRows adds and removes rows and errorActions, and changes types, without scripts.
func TestRows(t *testing.T) {
	w := consoletest.Shared(t)
	w.Put("default/a", simple)
	p := open(t, w, "default/a", "form")
	p.press("add:labels")
	p.press("add:labels")
	p.set("labels#0~name", "team", "labels#0~value", "billing", "labels#1~name", "gone", "labels#1~value", "x")
	p.press("remove:labels#1")
	p.press("add:action.request.headers")
	p.set("action.request.headers#0~name", "Accept", "action.request.headers#0~value", "text/html")
	p.press("add:action.errorAction")
	p.set("action.errorAction[0].type", "NatsMessage")
	p.press("retype:action.errorAction[0].type")
	p.set("action.errorAction[0].natsMessage.subject", "jobs.failed")
	p.press("add:action.errorAction")
	p.set("action.errorAction[1].type", "Http")
	p.press("retype:action.errorAction[1].type")
	p.set("action.errorAction[1].request.uri", "http://pager.example/", "action.errorAction[1].request.method", "PUT")
	p.save()
	got := job(t, w, "default/a")
	w.Has(got.String(),
		`"labels":{"team":"billing"}`, `"headers":{"Accept":"text/html"}`,
		`"errorAction":[{"type":"NatsMessage","natsMessage":{"subject":"jobs.failed"}},{"type":"Http","request":{"uri":"http://pager.example/","method":"PUT"}}]`,
	)
	p = open(t, w, "default/a", "form")
	p.press("remove:action.errorAction[0]")
	p.set("action.type", "StorageQueue")
	p.press("retype:action.type")
	p.set("action.queueMessage.storageAccount", "contoso", "action.queueMessage.queueName", "orders", "action.queueMessage.message", "hello",
		"action.queueMessage.sasToken~how", "text", "action.queueMessage.sasToken~text", "?sv=2022-11-02&sp=a&sig=c2ln")
	p.press("review")
	p.has("Type it again") // a page has no secret
	p.set("action.queueMessage.sasToken~text", "?sv=2022-11-02&sp=a&sig=c2ln")
	p.gets(http.StatusSeeOther, "save")
	got = job(t, w, "default/a")
	w.Has(got.String(), `!"request":{"method":"GET"`, `"queueName":"orders"`, "!jobs.failed")
}

// TestRights shows the page to nobody who may not change the job.
func TestRights(t *testing.T) {
	w := consoletest.Shared(t)
	w.Put("default/a", simple)
	p := open(t, w, "default/a", "form")
	w.Be("reader")
	w.Wants(http.StatusForbidden, w.Do(http.MethodGet, p.path, ""))
	p.gets(http.StatusForbidden, "save")
	w.Be("operator")
	p.set("description", "x").save()
	w.Wants(http.StatusNotFound, w.Do(http.MethodGet, "/console/jobs/default/none/edit", ""))
}

// TestNothingIsLost has the job deleted, and the store gone, while somebody types.
func TestNothingIsLost(t *testing.T) {
	w := consoletest.New(t)
	w.Put("default/a", simple)
	p := open(t, w, "default/a", "form").set("description", "typed before")
	w.OK(w.Service.Delete(t.Context(), consoletest.Key("default/a"), 0))
	p.gets(http.StatusNotFound, "review")
	p.has("typed before", "Another user deleted this job")
	w.Put("default/b", simple)
	p = open(t, w, "default/b", "yaml")
	p.set("text", p.form.Get("text")+"description: typed before\n")
	w.NATS.Close()
	p.gets(http.StatusServiceUnavailable, "review")
	p.has("description: typed before", "Your input is kept")
}

// TestOnRequest takes a job its schedule, and gives it another one.
func TestOnRequest(t *testing.T) {
	w := consoletest.Shared(t)
	w.Put("default/a", simple)
	p := open(t, w, "default/a", "form")
	p.set("schedule.when", "asked").save()
	w.Has(job(t, w, "default/a").String(), "!recurrence")
	p = open(t, w, "default/a", "form")
	if p.form.Get("schedule.when") != "asked" || p.form.Get("state") != "disabled" {
		t.Error(p.form.Get("schedule.when"), p.form.Get("state"))
	}
	p.set("schedule.when", "daily", "schedule.plain.times", "09:30").press("review")
	p.has("The job is disabled")
	p.set("state", "enabled").save()
	w.Has(job(t, w, "default/a").String(), `"cron":"30 9 * * *"`)
}

// TestOnEvents lets events start a job instead of its schedule. Without an event, it would run immediately.
func TestOnEvents(t *testing.T) {
	w := consoletest.Shared(t)
	w.Put("default/a", simple)
	p := open(t, w, "default/a", "form")
	p.set("schedule.when", "events")
	p.gets(http.StatusBadRequest, "review")
	p.has("Add an event that starts the job", `href="#f-trigger"`)
	p.press("add:trigger.on")
	p.set("trigger.on[0].filter", "event.dat > 1")
	p.gets(http.StatusBadRequest, "review")
	p.has("is required; or subject, or job", "undefined field")
	p.set("trigger.on[0].source", "order", "trigger.on[0].filter", "event.data.total > 100", "trigger.delay", "PT5M").save()
	w.Has(job(t, w, "default/a").String(), "!recurrence", `"trigger":{"on":{"source":"order","filter":"event.data.total > 100"},"delay":"PT5M"}`)
	p = open(t, w, "default/a", "form")
	if p.form.Get("schedule.when") != "events" || p.form.Get("trigger.on[0].source") != "order" {
		t.Error(p.form)
	}
	w.Has(w.Get("/console/jobs/default/a"), "trigger.on.filter")
	const end = "2099-01-01T00:00:00Z"
	p.set("schedule.when", "daily", "schedule.plain.times", "09:30", "schedule.overlap", "queue", "trigger.endTime", end,
		"onlyIf.job", "extract", "onlyIf.since", "P1D").save()
	w.Has(job(t, w, "default/a").String(), `"overlap":"queue"`, `"endTime":"`+end+`"`, `"onlyIf":{"job":"extract","since":"P1D"}`)
	p = open(t, w, "default/a", "form")
	for name, want := range map[string]string{"schedule.overlap": "queue", "trigger.endTime": end, "onlyIf.since": "P1D"} {
		if got := p.form.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	w.Has(w.Get("/console/jobs/default/a"), "onlyIf.job")
}

// TestDamaged has nothing to edit.
func TestDamaged(t *testing.T) {
	w := consoletest.Shared(t)
	w.Put("default/a", simple)
	w.Damage("default/a")
	w.Wants(http.StatusConflict, w.Do(http.MethodGet, "/console/jobs/default/a/edit", ""), "carillon apply")
}
