package natsapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/micro"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// wrong is input that the service and a spec refuse with the same message.
var wrong = []struct {
	name string
	job  string // default: job
	body string
	want string // parts of the error, each on a line
}{
	{"broken JSON", "", `{"action": {"type": "Http",}`, `expected a field name in double quotes`},
	{"empty", "", "", `is empty`},
	{"no object", "", `[]`, `[] the document must be an object, not an array`},
	{"unknown field inside", "", `{"recurrence": {"frequency": "day", "intervall": 2}, ` + action + `}`, `[recurrence.intervall] unknown field; did you mean "interval"?`},
	{"17 KB", "", `{"description": "` + strings.Repeat("x", 17<<10) + `", ` + action + `}`, `bytes long, at most 16384 (16 KB) are allowed`},
	{
		"endTime before start", "", `{"startTime": "2030-01-02T00:00:00Z", "recurrence": {"frequency": "day", "endTime": "2030-01-01T00:00:00Z"}, ` + action + `}`,
		`[recurrence.endTime] is before startTime`,
	},
	{"name with a dot", "my.job", later, `[job] "my.job" must not contain '.'`},
	{
		"everything at once", "", `{"startTime": "soon", "recurrence": {"frequency": "day", "interval": 0, "schedule": {"hours": [25], "weekDays": ["Monday"]}}, "action": {"type": "Htp"}, "state": "completed", "x": 1}`,
		"[startTime] \"soon\"\n[recurrence.interval] 0\n[recurrence.schedule.hours[0]] 25\n[recurrence.schedule.weekDays] \n[action.type] \"Htp\" is not one of Http, Https; did you mean \"Http\"?\n[state] \"completed\" is set by the scheduler\n[x] unknown field",
	},
}

// TestWrongInput sends wrong jobs as specs and as requests: the error is the same and names every place, and nothing has
// changed. The REST API performs requests with the same function (package dispatch).
func TestWrongInput(t *testing.T) {
	w := newHarness(t)
	w.ingest()
	w.api()
	next := w.results()
	for _, test := range wrong {
		t.Run(test.name, func(t *testing.T) {
			job := "job"
			if test.job != "" {
				job = test.job
			}
			w.publish("put.default."+job, test.body)
			e := next()
			if e.Verdict != "rejected" || e.Subject != "rejected.default."+job || e.Job != "default/"+job || e.Verb != "put" {
				t.Errorf("event: %+v", e)
			}
			spec := e.Error.String()
			for part := range strings.SplitSeq(test.want, "\n") {
				if !strings.HasPrefix(spec, "BadRequest:") || !strings.Contains(spec, part) {
					t.Errorf("got %s\nwant %s", spec, part)
				}
			}
			if got := w.request(t, "put.default."+job, test.body, "400").String(); got != spec {
				t.Errorf("micro service:\ngot  %s\nwant %s", got, spec)
			}
			if _, more, err := w.service.Search(w.ctx, scheduler.JobQuery{Collections: []string{"default"}}, v1.Page{}); err != nil || more != nil {
				t.Errorf("list: %v, %v", more, err)
			}
		})
	}
	if views, _, err := w.service.Search(w.ctx, scheduler.JobQuery{Collections: []string{"default"}}, v1.Page{}); err != nil || len(views) > 0 {
		t.Errorf("jobs: %v, %v", views, err)
	}
}

// request asks the micro service and returns the error it answers with, which
// must have the given code.
func (w *harness) request(t *testing.T, subject, body, code string) *errorValue {
	t.Helper()
	m, err := w.nc.Request("carillon.api."+subject, []byte(body), patience)
	if err != nil {
		t.Fatalf("%s: %v", subject, err)
	}
	if got := m.Header.Get(micro.ErrorCodeHeader); got != code || m.Header.Get("Carillon-Status") != code || m.Header.Get(micro.ErrorHeader) == "" {
		t.Errorf("%s: header %v, want code %s", subject, m.Header, code)
	}
	return errorIn(t, m.Data)
}

// errorDocument is an error as it is answered.
type errorDocument struct {
	Error *errorValue `json:"error"`
}

// errorIn reads an error document.
func errorIn(t *testing.T, data []byte) *errorValue {
	t.Helper()
	var d errorDocument
	if err := json.Unmarshal(data, &d); err != nil || d.Error == nil {
		t.Fatalf("%v: %s", err, data)
	}
	return d.Error
}
