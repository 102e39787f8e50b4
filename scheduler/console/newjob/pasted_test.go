package newjob_test

import (
	"html"
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
	"github.com/carillon-sched/carillon/scheduler/console/newjob"
)

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
	r := w.Post(newjob.Path, form)
	if page := html.UnescapeString(r.Body); r.Status != http.StatusOK || !strings.Contains(page, "The whole job is taken over") || !strings.Contains(page, "Its secrets are not") ||
		!strings.Contains(page, "every Monday") || strings.Contains(page, "correct-horse") || strings.Contains(page, "typed-before") {
		t.Fatalf("%d %.6000s", r.Status, page)
	}
	form = fields(t, r.Body)
	form.Set("action.request.authentication.password~text", "correct-horse")
	form.Set("do", "save")
	if r = w.Post(newjob.Path, form); r.Status != http.StatusSeeOther {
		t.Fatalf("%d %.6000s", r.Status, r.Body)
	}
	v, err := w.Service.Get(t.Context(), consoletest.Key("default/nightly"))
	if err != nil {
		t.Fatal(err)
	}
	stored := string(v.Job.Def.Properties())
	for _, want := range []string{`"PUT"`, `/night`, `"dark"`, `"owl"`, `"2039-12-01T09:00:00Z"`, `"weekDays":["Monday"]`, `"retryCount":3`} {
		if !strings.Contains(stored, want) {
			t.Errorf("%s is not in %s", want, stored)
		}
	}
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
		r := w.Post(newjob.Path, filled(t, w, "schedule.paste="+pasted))
		if page := html.UnescapeString(r.Body); r.Status != http.StatusUnprocessableEntity || !strings.Contains(page, `id="newjob-wrong"`) ||
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
		page := html.UnescapeString(w.Post(newjob.Path, form).Body)
		if !strings.Contains(page, "it's $${CARILLON_HOME} $(date)") || !strings.Contains(page, `"body":"it's ${CARILLON_HOME} $(date)"`) {
			t.Errorf("as %q: %.3000s", who, page)
		}
		if strings.Contains(page, `Bearer $CARILLON_TOKEN"`) != (who != "") {
			t.Errorf("as %q: the request has a token, or none: %.3000s", who, page)
		}
	}
}
