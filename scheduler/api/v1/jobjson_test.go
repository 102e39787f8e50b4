package v1

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// reflected is a job's document as encoding/json writes it.
type reflected struct {
	tagged

	Result   Result         `json:"result,omitempty"`
	Warnings []spec.Warning `json:"warnings,omitempty"`
	DryRun   *DryRun        `json:"dryRun,omitempty"`
}

// tagged is a [resource] with its ETag.
type tagged struct {
	ID         string `json:"id"`
	Type       string `json:"type"`
	Name       string `json:"name"`
	ETag       string `json:"etag,omitempty"`
	Properties any    `json:"properties"`
}

func reflect(t *testing.T, v *Job) string {
	t.Helper()
	k, status := v.Job.Key, v.Status
	if v.Job.Plan != nil {
		status.Schedule = v.Job.Plan.Describe()
	}
	shown, err := document.Parse(JSON(struct {
		Status

		Secrets []string `json:"secrets,omitempty"`
	}{status, secretPaths(v.Job.Def)}))
	if err != nil {
		t.Fatal(err)
	}
	properties := append([]document.Member{}, v.Job.Def.Document().Members()...)
	properties = append(properties,
		document.Member{Name: "state", Value: document.StringValue(string(v.Job.State))},
		document.Member{Name: "status", Value: shown})
	head := tagged{jobID(k), jobType, k.String(), v.ETag(), document.ObjectValue(properties...)}
	return string(JSON(reflected{head, v.Result, v.Warnings, v.DryRun}))
}

// TestJobIsWrittenAsByReflection compares the documents of jobs with those that
// encoding/json writes.
func TestJobIsWrittenAsByReflection(t *testing.T) {
	at := time.Date(2026, 3, 1, 9, 30, 0, 123456789, time.UTC)
	full := Status{
		Schedule: `every "day"`, Occurrences: 1, Executions: 2, Failures: 3, Faults: 4, Errors: 5, ErrorFails: 6, Last: at, Next: at.Add(time.Hour),
		Running: true, Retry: 5, WaitsFor: "a\n<collection> & \u2028 more", Message: "it is \"over\"\t\x01",
	}
	secret := `"action":{"type":"http","request":{"uri":"http://a.example","method":"GET",` +
		`"authentication":{"type":"Basic","username":"me","password":"hush"}}}`
	open := `"labels":{"a<b":"\u2028&"},"action":{"type":"http","request":{"uri":"http://a.example/?a=1&b=2","method":"POST","body":"{\"n\": 1}"}}`
	jobs := map[string]*scheduler.Job{
		"once":      readJob(t, `{"startTime":"2099-01-01T00:00:00Z",`+open+`}`),
		"recurring": readJob(t, `{"recurrence":{"frequency":"day","interval":1,"count":3},`+open+`}`),
		"secret":    readJob(t, `{`+secret+`}`),
		"damaged":   (&scheduler.DamagedError{Key: scheduler.Key{Collection: "default", Job: "a"}, Reason: "form"}).Job(),
		"bare":      {Key: scheduler.Key{Collection: "default", Job: "a"}, Def: &scheduler.Definition{}, State: scheduler.Completed},
	}
	for name, j := range jobs {
		for view, v := range map[string]*Job{
			"nothing told": {Job: j},
			"all told":     {Job: j, Status: full},
			"result":       {Job: j, Status: full, Result: Created, Warnings: []spec.Warning{{Path: "a.b", Message: "<without effect>"}}},
			"dry run":      {Job: j, Result: Updated, DryRun: &DryRun{NextRuns: []time.Time{at}, Notes: []string{}}},
		} {
			t.Run(name+", "+view, func(t *testing.T) {
				want := reflect(t, v)
				if diff := cmp.Diff(want, string(JSON(v))); diff != "" {
					t.Errorf("JSON differs (-want +got):\n%s", diff)
				}
				if inner, err := json.Marshal([]*Job{v}); err != nil || !json.Valid(inner) {
					t.Errorf("inside of another: %s, %v", inner, err)
				}
			})
		}
	}
}

func readJob(t *testing.T, text string) *scheduler.Job {
	t.Helper()
	body, err := scheduler.ParseDocument([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	k := scheduler.Key{Collection: "default", Job: "a"}
	r := &scheduler.DefinitionDecoder{Actions: actions.New(web.New(web.Config{})), Key: k, UID: "u", Now: time.Now().UTC()}
	def, err := r.Document(body).Definition()
	if err != nil {
		t.Fatal(err)
	}
	j, err := scheduler.NewJob(k, r.UID, def, r.Now, 0)
	if err != nil {
		t.Fatal(err)
	}
	return j
}
