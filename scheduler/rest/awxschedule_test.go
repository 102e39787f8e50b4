package rest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/awx"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
)

const (
	schedules = "/api/v2/schedules/"
	templates = "/api/v2/job_templates/"
	ofReport  = templates + "default.report/schedules/"
	daily     = "DTSTART:20990115T120000Z RRULE:FREQ=DAILY;INTERVAL=1;COUNT=7"
)

// awxSchedule is what the tests look at of a schedule.
type awxSchedule struct {
	ID        int             `json:"id"`
	URL       string          `json:"url"`
	Name      string          `json:"name"`
	ExtraData json.RawMessage `json:"extra_data"`
	Next      *time.Time      `json:"next_run"`
}

// awxList is a page of schedules.
type awxList struct {
	Count    int           `json:"count"`
	Next     *string       `json:"next"`
	Previous *string       `json:"previous"`
	Results  []awxSchedule `json:"results"`
}

// makeTemplate puts the disabled job report, whose body is a template.
func (w *harness) makeTemplate(target, body string) {
	w.t.Helper()
	w.must(http.MethodPut, "/jobCollections/default/jobs/report", `{"state": "disabled", "labels": {"team": "a"}, "timeout": "PT7S", `+templated(target, body)+`}`)
}

// makeSchedule creates a schedule.
func (w *harness) makeSchedule(path, body string, headers ...string) (s awxSchedule) {
	w.t.Helper()
	r := w.do(http.MethodPost, path, body, headers...)
	if err := json.Unmarshal([]byte(r.body), &s); err != nil || r.status != http.StatusCreated {
		w.t.Fatalf("%s: %d %s", body, r.status, r.body)
	}
	return s
}

func (w *harness) schedules(path string) (l awxList) {
	w.t.Helper()
	r := w.do(http.MethodGet, path, "")
	if err := json.Unmarshal([]byte(r.body), &l); err != nil || r.status != http.StatusOK {
		w.t.Fatalf("%s: %d %s", path, r.status, r.body)
	}
	return l
}

// TestAWXSchedule follows a schedule through every operation.
func TestAWXSchedule(t *testing.T) {
	w := newHarness(t)
	w.makeTemplate("http://target.example", "{{.Data.region}} {{.Data.size}}")
	made := w.makeSchedule(ofReport, `{"name": " Every day, at noon! ", "rrule": "`+daily+`", "extra_data": {"region": "us"}}`)
	one := schedules + itoa(made.ID) + "/"
	job := "/jobCollections/default/jobs/awx-" + itoa(made.ID)
	if made.URL != one || made.ID < 1 || made.ID > 1<<31-1 {
		t.Errorf("%+v", made)
	}
	w.steps([]step{
		{
			"GET", one, "", `200 "type":"schedule"|"url":"` + one + `"|"related":{"unified_job_template":"/jobCollections/default/jobs/report","unified_jobs":"` + job + `/history"}` +
				`|"summary_fields":{"unified_job_template":{"id":"default/report","name":"report"|"created":"20|"modified":"20|"name":"Every day, at noon!","description":"","extra_data":{"region":"us"},"inventory":null` +
				`|"rrule":"` + daily + `","unified_job_template":"default/report","enabled":true,"dtstart":"2099-01-15T12:00:00Z","dtend":"2099-01-21T12:00:00Z","next_run":"2099-01-15T12:00:00Z","timezone":"UTC","until":""}`,
		},
		{"GET", strings.TrimSuffix(one, "/"), "", `200 "type":"schedule"`},
		{"GET", job, "", `200 "labels":{"awx.template":"default/report","team":"a","awx.name":"Every day, at noon!"}|"timeout":"PT7S"|"data":{"region":"us"}|"state":"enabled"|"nextExecutionTime":"2099-01-15T12:00:00Z"`},
		{"PATCH", one, `{"enabled": false}`, `200 "enabled":false|"next_run":null|"extra_data":{"region":"us"}|"dtstart":"2099`},
		{"GET", job, "", `200 "state":"disabled"`},
		{"PATCH", one, `{"name": "Noon", "description": "new", "extra_data": {"size": 5}}`, `200 "name":"Noon","description":"new","extra_data":{"size":5}|"enabled":false`},
		{
			"PATCH", one, `{"rrule": "DTSTART;TZID=America/New_York:20990115T120000 RRULE:FREQ=DAILY;INTERVAL=1;UNTIL=20990301T170000Z", "enabled": true}`,
			`200 "dtstart":"2099-01-15T17:00:00Z","dtend":"2099-03-01T17:00:00Z","next_run":"2099-01-15T17:00:00Z","timezone":"America/New_York","until":"2099-03-01T12:00:00"`,
		},
		{"PUT", one, `{"name": "Again", "rrule": "DTSTART:20200115T120000Z RRULE:FREQ=YEARLY;INTERVAL=50"}`, `200 "name":"Again","description":"new","extra_data":{"size":5}|"dtstart":"2020-01-15T12:00:00Z","dtend":null,"next_run":"2070-01-15T12:00:00Z"|"enabled":true`},
		{"PUT", one, `{"name": "Again"}`, `400 {"rrule":["This field is required."]}`},
		{"PATCH", one, `{"unified_job_template": "report", "id": 7, "created": "x"}`, `200 "unified_job_template":"default/report"`},
		{"PATCH", one, `{"unified_job_template": "other"}`, `400 {"unified_job_template":["The template of a schedule`},
		{"DELETE", one, "", `204`},
		{"DELETE", one, "", `404 {"detail":"Not found."}`},
		{"GET", one, "", `404 {"detail":"Not found."}`},
		{"PATCH", one, `{}`, `404 {"detail":"Not found."}`},
		{"GET", job, "", `404`},
		{"POST", one, "{}", `405 {"detail":"Method \"POST\" not allowed."}`},
		{"DELETE", schedules, "", `405 {"detail":"Method \"DELETE\" not allowed."}`},
		{"GET", schedules + "0" + itoa(made.ID) + "/", "", `404 {"detail":"Not found."}`},
	})
}

// TestAWXTemplatesOfEveryKind makes schedules of jobs under all names that AWX has for templates, by name and by number.
func TestAWXTemplatesOfEveryKind(t *testing.T) {
	w := newHarness(t)
	w.must(http.MethodPut, "/jobCollections/team", "")
	for _, job := range []string{"default/jobs/report", "default/jobs/template-7", "team/jobs/template-7"} {
		w.must(http.MethodPut, "/jobCollections/"+job, later)
	}
	const body = `{"name": "%s", "rrule": "` + daily + `", "extra_data": {}}`
	for _, kind := range []string{"job_templates", "projects", "inventory_sources", "system_jobs", "workflow_job_templates"} {
		path := "/api/v2/" + kind + "/"
		w.steps([]step{
			{"POST", path + "report/schedules/", fmt.Sprintf(body, kind), `201 "unified_job_template":"default/report"`},
			{"POST", path + "7/schedules/", fmt.Sprintf(body, kind), `201 "unified_job_template":"default/template-7"`},
			{"POST", path + "7/schedules", fmt.Sprintf(body, kind), `400 {"__all__":["Schedule with this Unified`},
			{"POST", path + "team.7/schedules/", fmt.Sprintf(body, kind), `201 "unified_job_template":"team/template-7"`},
			{"POST", path + "7/schedules/", `{}`, `400 {"name":["This field is required."],"rrule":["This field is required."]}`},
			{"GET", path + "8/schedules/", "", `404 {"detail":"Not found."}`},
			{"POST", path + "8/schedules/", fmt.Sprintf(body, kind), `404 {"detail":"Not found."}`},
			{"DELETE", path + "7/schedules/", "", `405 {"detail":"Method \"DELETE\" not allowed."}`},
			{"GET", path + "7/", "", `404 {"detail":"Not found."}`},
		})
	}
	w.steps([]step{
		{"POST", schedules, `{"name": "by number", "rrule": "` + daily + `", "unified_job_template": 7}`, `201 "unified_job_template":"default/template-7"`},
		{"POST", schedules, `{"name": "by number", "rrule": "` + daily + `", "unified_job_template": 8}`, `400 {"unified_job_template":["Invalid pk \"8\" - object does not exist."]}`},
		{"POST", schedules, `{"name": true, "rrule": "` + daily + `", "unified_job_template": 7}`, `400 {"name":["Not a valid string."]}`},
		{"POST", "/api/v2/inventories/7/schedules/", fmt.Sprintf(body, "x"), `404 {"detail":"Not found."}`},
		{"GET", "/api/v2/inventories/7/schedules/", "", `404 {"detail":"Not found."}`},
		{"GET", "/api/v2/ping/", "", `404 {"detail":"Not found."}`},
	})
	for path, want := range map[string]int{"projects/7/schedules/": 6, "system_jobs/report/schedules/": 5, "schedules/?unified_job_template=7": 6} {
		if n := w.schedules("/api/v2/" + path).Count; n != want {
			t.Errorf("%s: %d schedules, want %d", path, n, want)
		}
	}
}

// TestAWXScheduleErrors makes schedules that cannot be.
func TestAWXScheduleErrors(t *testing.T) {
	w := newHarness(t)
	w.makeTemplate("http://target.example", "{{.Data.region}} {{.Data.size}}")
	w.must(http.MethodPut, "/jobCollections/default/jobs/plain", later)
	w.must(http.MethodPut, "/jobCollections/few", `{"properties": {"quota": {"maxJobCount": 1, "maxRecurrence": {"frequency": "hour"}}}}`)
	w.must(http.MethodPut, "/jobCollections/few/jobs/report", later)
	good := `"name": "a", "rrule": "` + daily + `"`
	with := func(more string) string { return "{" + good + ", " + more + "}" }
	made := w.makeSchedule(ofReport, "{"+good+"}")
	w.makeSchedule(templates+"plain/schedules/", "{"+good+"}") // another template
	w.steps([]step{
		{"POST", ofReport, "{" + good + "}", `400 {"__all__":["Schedule with this Unified job template and Name already exists."]}`},
		{"POST", ofReport, `{}`, `400 {"name":["This field is required."],"rrule":["This field is required."]}`},
		{"POST", ofReport, ``, `400 {"name":["This field is required."],"rrule":["This field is required."]}`},
		{"POST", ofReport, `{"name": "", "rrule": null}`, `400 {"name":["This field may not be blank."],"rrule":["This field may not be null."]}`},
		{"POST", ofReport, `{"name": "` + strings.Repeat("n", 257) + `", "rrule": "` + daily + `"}`, `400 {"name":["Ensure this field has no more than 256 bytes."]}`},
		{"POST", ofReport, `{"name": "a\u0000b", "description": "\u0000", "rrule": "` + daily + `"}`, `400 {"name":["Null characters are not allowed."],"description":["Null characters are not allowed."]}`},
		{"POST", ofReport, `{"name": "a\u001b[2Jb", "rrule": "` + daily + `"}`, `400 {"name":["Control characters are not allowed: U+001B."]}`},
		{"PATCH", schedules + itoa(made.ID) + "/", `{"name": "a\nb"}`, `400 {"name":["Control characters are not allowed: U+000A."]}`},
		{"POST", ofReport, `{"name": ["a"], "rrule": "x", "enabled": "maybe", "extra_data": [1], "limit": "web"}`, `400 {"name":["Not a valid string."],"enabled":["Must be a valid boolean."],` +
			`"extra_data":["Expected a dictionary of items but got an array."],"rrule":["Valid DTSTART required|"limit":["Field is not configured to prompt on launch."]}`},
		{"POST", ofReport, `{"name": "b", "rrule": "DTSTART:20300308T050000Z RRULE:FREQ=SECONDLY;INTERVAL=1"}`, `400 {"rrule":["SECONDLY is not supported: RULE:FREQ=SECONDLY;INTERVAL=1"]}`},
		{"POST", ofReport, `{"name": "b", "rrule": "` + daily + `", "extra_data": {"region": "us", "regoin": 1, "x": 2}}`, `400 {"extra_data":["Variables regoin, x are not allowed on launch. Check the Prompt on Launch`},
		{"POST", ofReport, `{"name": "b", "rrule": "` + daily + `", "extra_data": "{]"}`, `400 {"extra_data":["Cannot parse as JSON or YAML: `},
		{"POST", templates + "plain/schedules/", with(`"extra_data": {"a": 1}`), `400 "__all__"`},
		{"POST", templates + "plain/schedules/", `{"name": "b", "rrule": "` + daily + `", "extra_data": {"a": 1}}`, `400 {"extra_data":["Variables a are not allowed on launch.`},
		{"POST", ofReport, `{"name": "b", "rrule": "` + daily + `", "description": "` + strings.Repeat("d", 1025) + `"}`, `400 {"description":["is 1025 bytes long, at most 1024 are allowed"]}`},
		{"POST", templates + "none/schedules/", "{" + good + "}", `404 {"detail":"Not found."}`},
		{"POST", templates + "nowhere.none/schedules/", "{" + good + "}", `404 {"detail":"Not found."}`},
		{"POST", templates + "awx-" + itoa(made.ID) + "/schedules/", "{" + good + "}", `404 {"detail":"Not found."}`},
		{"GET", templates + "none/schedules/", "", `404 {"detail":"Not found."}`},
		{"GET", templates + "a%20b/schedules/", "", `404 {"detail":"Not found."}`},
		{"POST", schedules, "{" + good + "}", `400 {"unified_job_template":["This field is required."]}`},
		{"POST", schedules, with(`"unified_job_template": "none"`), `400 {"unified_job_template":["Invalid pk \"none\" - object does not exist."]}`},
		{"POST", templates + "few.report/schedules/", "{" + good + "}", `409 {"detail":"conflict: collection few is full`},
		{"POST", templates + "few.report/schedules/", `{"name": "b", "rrule": "DTSTART:20300308T050000Z RRULE:FREQ=MINUTELY;INTERVAL=1"}`, `409 {"detail":"conflict: recurrence: two occurrences are PT1M apart`},
		{"POST", ofReport, `name: x`, `400 {"detail":"JSON parse error - not a JSON object"}`},
		{"POST", ofReport, `{"name": "big", "rrule": "` + daily + `", "extra_data": {"region": "` + strings.Repeat("r", 16100) + `"}}`, `400 {"detail":"the document is 1`},
		{"GET", schedules + "?page=2", "", `404 {"detail":"Invalid page."}`},
		{"GET", schedules + "?page=x", "", `404 {"detail":"Invalid page."}`},
		{"GET", schedules + "?title=x", "", `400 {"detail":"Schedule has no field named 'title'"}`},
		{"GET", schedules + "?order_by=-title", "", `400 {"detail":"Schedule has no field named 'title'"}`},
		{"GET", schedules + "?enabled=x", "", `400 {"detail":`},
	})
	w.must(http.MethodPost, "/jobCollections/default/jobs/report/disable", "")
	if n := w.schedules(schedules).Count; n != 2 {
		t.Errorf("%d schedules", n)
	}
	second := w.makeSchedule(ofReport, `{"name": "second", "rrule": "`+daily+`"}`)
	w.steps([]step{
		{"PATCH", schedules + itoa(second.ID) + "/", `{"name": "a"}`, `400 "__all__"`},
		{"PATCH", schedules + itoa(made.ID) + "/", `{"name": "a"}`, `200`},
		{"PATCH", schedules + itoa(made.ID) + "/", `{"name": "renamed"}`, `200`},
	})
	if again := w.makeSchedule(ofReport, "{"+good+"}"); again.ID == made.ID {
		t.Error("two schedules have one id")
	}
}

// TestAWXScheduleList lists schedules in pages, in an order, and by filters.
func TestAWXScheduleList(t *testing.T) {
	w := newHarness(t)
	w.must(http.MethodPut, "/jobCollections/team", "")
	w.must(http.MethodPut, "/jobCollections/team/jobs/other", later)
	w.must(http.MethodPut, "/jobCollections/team/jobs/awx-5", later) // no schedule
	w.makeTemplate("http://target.example", "{{.Data.region}}")
	for i := range 5 {
		w.makeSchedule(ofReport, fmt.Sprintf(`{"name": "Run %d", "rrule": %q, "enabled": %v, "description": "d%d"}`, i, strings.Replace(daily, "2099", "209"+itoa(i), 1), i != 3, i))
	}
	w.makeSchedule(schedules, `{"name": "else", "rrule": "`+daily+`", "unified_job_template": "other++team"}`)
	for query, want := range map[string][]string{
		"?order_by=name":                          {"Run 0", "Run 1", "Run 2", "Run 3", "Run 4", "else"},
		"?order_by=-name&page_size=2":             {"else", "Run 4"},
		"?order_by=-name&page_size=4&page=2":      {"Run 1", "Run 0"},
		"?order_by=-next_run&name__icontains=RUN": {"Run 4", "Run 2", "Run 1", "Run 0", "Run 3"},
		"?name=Run%202":                           {"Run 2"},
		"?enabled=false":                          {"Run 3"},
		"?search=D4":                              {"Run 4"},
		"?unified_job_template=team/other":        {"else"},
		"?unified_job_template=a%20b":             {},
		"?order_by=created&page_size=1":           {"Run 0"},
	} {
		var got []string
		for _, s := range w.schedules(schedules + query).Results {
			got = append(got, s.Name)
		}
		if diff := cmp.Diff(want, append([]string{}, got...)); diff != "" {
			t.Errorf("%s: -want +got\n%s", query, diff)
		}
	}
	first := w.schedules(ofReport + "?page_size=2&order_by=name")
	if first.Count != 5 || first.Previous != nil || first.Next == nil || *first.Next != ofReport+"?order_by=name&page=2&page_size=2" {
		t.Fatalf("%+v", first)
	}
	second := w.schedules(*first.Next)
	if second.Previous == nil || *second.Previous != ofReport+"?order_by=name&page=1&page_size=2" || second.Results[0].Name != "Run 2" {
		t.Errorf("%+v", second)
	}
	if l := w.schedules(templates + "team%2Fother/schedules"); l.Count != 1 || l.Results[0].Name != "else" {
		t.Errorf("%+v", l)
	}
	w.must(http.MethodDelete, "/jobCollections/default/jobs/report", "")
	if l := w.schedules(ofReport); l.Count != 5 {
		t.Errorf("without their template, %d schedules are listed", l.Count)
	}
}

// TestAWXSchedulesAtOnce makes one schedule by several requests at once: one of
// them does.
func TestAWXSchedulesAtOnce(t *testing.T) {
	w := newHarness(t)
	w.makeTemplate("http://target.example", "x")
	status := make([]int, 8)
	var all sync.WaitGroup
	for i := range status {
		all.Go(func() { status[i] = w.do(http.MethodPost, ofReport, `{"name": "a", "rrule": "`+daily+`"}`).status })
	}
	all.Wait()
	created := 0
	for _, s := range status {
		if s == http.StatusCreated {
			created++
		} else if s != http.StatusBadRequest {
			t.Errorf("status %d", s)
		}
	}
	if n := w.schedules(schedules).Count; created != 1 || n != 1 {
		t.Errorf("%d requests made %d schedules", created, n)
	}
}

// TestAWXScheduleFires lets a schedule run: its target gets the body of the
// template with extra_data, and the secrets that the template has.
func TestAWXScheduleFires(t *testing.T) {
	w := newHarness(t)
	target, got := bodies(t)
	w.work()
	w.must(http.MethodPut, "/jobCollections/default/jobs/report", `{"state": "disabled", "data": {"region": "eu", "size": "small"},
		"action": {"type": "Http", "template": true, "request": {"uri": "`+target+`/hook", "method": "POST",
			"body": "{{json .Data.region}} {{.Data.size}}", "authentication": {"type": "Basic", "username": "me", "password": "`+secret+`"}}}}`)
	soon := time.Now().Add(2 * time.Second).UTC().Format("20060102T150405Z")
	made := w.makeSchedule(ofReport, `{"name": "soon", "rrule": "DTSTART:`+soon+` RRULE:FREQ=MINUTELY;INTERVAL=1;COUNT=1", "extra_data": "region: \"a\\\"b\""}`)
	if diff := cmp.Diff(`{"region":"a\"b"}`, string(made.ExtraData)); diff != "" {
		t.Error(diff)
	}
	if body := <-got; body != `"a\"b" small` {
		t.Errorf("the target got %s", body)
	}
	job := "/jobCollections/default/jobs/awx-" + itoa(made.ID)
	w.await("the record", func() bool { return len(w.page(job+"/history").Value) > 0 })
	w.await("the end", func() bool { return strings.Contains(w.do(http.MethodGet, job, "").body, `"state":"completed"`) })
	w.steps([]step{
		{"GET", schedules + itoa(made.ID) + "/", "", `200 "enabled":true|"next_run":null`},
		{"GET", job, "", `200 "username":"me"`},
		{"GET", "/jobCollections/default/jobs/report", "", `200 "executionCount":0`},
	})
}

// TestAWXPutTakesTemplateAfresh shows when a schedule has what its template is
// now: a PATCH keeps the action it was made with, a PUT takes the new one.
func TestAWXPutTakesTemplateAfresh(t *testing.T) {
	w := newHarness(t)
	w.makeTemplate("http://old.example", "{{.Data.region}}")
	made := w.makeSchedule(ofReport, `{"name": "a", "rrule": "`+daily+`", "extra_data": {"region": "us"}, "enabled": false}`)
	one, job := schedules+itoa(made.ID)+"/", "/jobCollections/default/jobs/awx-"+itoa(made.ID)
	w.makeTemplate("http://new.example", "new {{.Data.region}}")
	w.steps([]step{
		{"PATCH", one, `{"description": "x"}`, `200`},
		{"GET", job, "", `200 http://old.example|"state":"disabled"`},
		{"PUT", one, `{"name": "a", "rrule": "` + daily + `"}`, `200 "description":"x","extra_data":{"region":"us"}|"enabled":false`},
		{"GET", job, "", `200 http://new.example|"state":"disabled"`},
		{"DELETE", "/jobCollections/default/jobs/report", "", `200`},
		{"PATCH", one, `{"enabled": true}`, `200 "enabled":true`},
		{"PUT", one, `{"name": "a", "rrule": "` + daily + `"}`, `400 {"unified_job_template":["Invalid pk \"default/report\" - object does not exist."]}`},
	})
}

// TestAWXNamesAreUnique finds a name again, whatever is in it.
func TestAWXNamesAreUnique(t *testing.T) {
	w := newHarness(t)
	w.makeTemplate("http://target.example", "x")
	for _, name := range []string{"a", "a b", `\"`, `\\`, `\u00ad\u200b\ufeff`, "ü\\u2028<&>😀", `\/`} {
		body := `{"name": "` + name + `", "rrule": "` + daily + `"}`
		w.steps([]step{
			{"POST", ofReport, body, `201`},
			{"POST", ofReport, body, `400 already exists.`},
		})
	}
}

// TestAWXForgedSchedule takes no action, and no secrets, for a job that somebody
// gave the labels of a schedule, of a template in another collection.
func TestAWXForgedSchedule(t *testing.T) {
	w := newHarness(t)
	w.must(http.MethodPut, "/jobCollections/default/jobs/report", withPassword)
	w.must(http.MethodPut, "/jobCollections/mine", "{}")
	const job = "/jobCollections/mine/jobs/awx-77"
	w.steps([]step{
		{"PUT", job, `{"labels": {"awx.template": "default/report", "awx.name": "a"}, "recurrence": {"rrule": "` + daily + `", "dialect": "awx"},
			"action": {"type": "Http", "request": {"uri": "http://mine.example", "method": "GET"}}}`, `201`},
		{"PUT", schedules + "77/", `{"name": "a", "rrule": "` + daily + `"}`, `404 Not found.`},
		{"GET", job, "", `200 http://mine.example`},
	})
}

// TestAWXTemplateOfAnotherKey makes no schedule of a template whose secrets this
// process cannot open: it could not seal them for another job.
func TestAWXTemplateOfAnotherKey(t *testing.T) {
	w := newHarness(t)
	w.must(http.MethodPut, "/jobCollections/default/jobs/report", withPassword)
	k, err := seal.NewKey("k2")
	if err != nil {
		t.Fatal(err)
	}
	other := control.New(control.Config{
		Store: w.store, Actions: w.actions, Secrets: secrets.NewVault(secrets.Config{Store: w.store.Secrets(), Keys: seal.NewKeyring(k)}),
	})
	name, rrule := "a", daily
	_, err = other.CreateSchedule(t.Context(), scheduler.Key{Collection: "default", Job: "report"}, awx.Request{Name: &name, RRule: &rrule})
	if !errors.Is(err, scheduler.ErrConflict) || !strings.Contains(err.Error(), "its secrets cannot be opened here") {
		t.Error(err)
	}
}

// TestSchedulesAreNotRehearsed shows that a dry run, and a condition, of what AWX has is refused and not left out.
func TestSchedulesAreNotRehearsed(t *testing.T) {
	w := newHarness(t, asking)
	root := as("admin")
	w.do(http.MethodPut, "/jobCollections/default/jobs/report", `{"state": "Disabled", "action": {"type": "http", "request": {"method": "GET", "uri": "http://192.0.2.1/"}}}`, root)
	id := w.schedule("default", "kept", root)
	const template = "/api/v2/job_templates/default.report/schedules/"
	for _, test := range []struct{ method, path, header, want string }{
		{http.MethodPost, template + "?dryRun=true", root, "dryRun"},
		{http.MethodDelete, "/api/v2/schedules/" + id + "/?dryRun=true", root, "dryRun"},
		{http.MethodPatch, "/api/v2/schedules/" + id + "?dryRun=", root, "dryRun"},
		{http.MethodDelete, "/api/v2/schedules/" + id + "/", `If-Match: "x"`, "ETag"},
		{http.MethodPost, template, "If-None-Match: *", "ETag"},
	} {
		const body = `{"name": "other", "rrule": "DTSTART:20990101T000000Z RRULE:FREQ=DAILY;INTERVAL=1"}`
		if r := w.do(test.method, test.path, body, root, test.header); r.status != http.StatusBadRequest || !strings.Contains(r.body, test.want) {
			t.Errorf("%s %s %s: %d %s", test.method, test.path, test.header, r.status, r.body)
		}
	}
	if r := w.do(http.MethodGet, "/api/v2/schedules/", "", root); !strings.Contains(r.body, `"count":1`) || !strings.Contains(r.body, "kept") {
		t.Errorf("there are %s", r.body)
	}
}
