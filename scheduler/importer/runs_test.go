package importer_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/check"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/importer"
)

// TestNextRuns compares the next runs of what was imported, all after Sunday 2026-11-29 12:00 UTC, with those that were
// worked out by hand from each system's documentation and a calendar.
func TestNextRuns(t *testing.T) {
	tests := []struct {
		format, job string
		want        string // UTC
	}{
		{"crontab", "cd", "11-29T12:17 11-29T13:17 11-29T14:17"},                                      // at 17 minutes past the hour
		{"crontab", "test", "12-06T06:47 12-13T06:47 12-20T06:47"},                                    // Sundays
		{"crontab", "daily", "11-30T05:05 12-01T05:05 12-02T05:05"},                                   // five minutes after midnight in New York
		{"crontab", "mail", "12-01T03:00 12-02T03:00 12-03T03:00"},                                    // 22:00 in New York, Monday to Friday
		{"crontab", "report", "12-01T09:30 12-04T09:30 12-11T09:30 12-15T09:30 12-18T09:30"},          // the 1st and 15th, plus every Friday
		{"crontab", "new-year", "2027-01-04T14:00 2027-01-11T14:00"},                                  // Mondays in January
		{"k8s", "hello", "11-29T12:01 11-29T12:02"},                                                   // every minute
		{"k8s", "nightly", "11-30T03:00 12-01T03:00 12-02T03:00 12-03T03:00 12-04T03:00 12-07T03:00"}, // weekdays
		{"arm", "weekly", "11-30T08:00 12-07T08:00"},
		{"arm", "ping", "11-29T14:00 11-29T20:00 11-30T02:00"},                             // every six hours from 08:00
		{"arm", "host2", "11-29T13:00 11-29T14:00"},                                        // every hour
		{"eventbridge", "DailyLambdaFunction", "12-25T10:15 2027-01-29T10:15"},             // last Friday of the month: 27 November is past
		{"eventbridge", "workdays", "11-30T18:00 12-01T18:00"},                             // Monday to Friday
		{"eventbridge", "TestSchedule", "12-01T07:30 12-02T07:30 12-03T07:30 12-06T07:30"}, // 1 is Sunday, 3-5 Tuesday to Thursday
		{"eventbridge", "once", "2030-11-20T12:00"},                                        // 13:00 in Zurich
		{"eventbridge", "five", "12-01T00:00 12-01T00:05"},                                 // from its StartDate
		{"awx", "Cleanup-Job-Schedule", "11-29T15:09:16 12-06T15:09:16"},                   // Sundays
		{"awx", "deploy", "11-29T13:00 12-01T13:00"},                                       // every other day since 1 January: the 333rd is 29 November
		{"obsidian", "Order-Export", "12-16T10:15 12-16T22:15 2027-01-20T10:15"},           // third Wednesday, 05:15 and 17:15 in New York
		{"obsidian", "Order-Export-2", "12-07T08:00 12-21T08:00"},                          // every 14 days since 5 January
		{"obsidian", "Month-End", "11-30T18:00 12-31T18:00 2027-01-31T18:00"},              // last days of months
	}
	results := map[string]importer.Result{}
	for _, test := range tests {
		if _, ok := results[test.format]; !ok {
			results[test.format] = sample(t, test.format)
		}
		got, found := "", false
		for _, j := range results[test.format].Jobs {
			if j.Key.Job != test.job {
				continue
			}
			found = true
			body, err := json.Marshal(map[string]any{
				"name": j.Key.Job, "properties": j.Document.Without("name", "collection", "state"), "count": len(strings.Fields(test.want)),
				"now": "2026-11-29T12:00:00Z", "after": "2026-11-29T12:00:00Z",
			})
			if err != nil {
				t.Fatal(err)
			}
			p, err := control.Previewer{}.Preview(t.Context(), body)
			if err != nil {
				t.Errorf("%s %s: %v", test.format, test.job, err)
				continue
			}
			var all []string
			for _, at := range p.Times {
				text := strings.TrimSuffix(strings.TrimSuffix(at.UTC().Format(time.RFC3339), "Z"), ":00")
				all = append(all, strings.TrimPrefix(text, "2026-"))
			}
			got = strings.Join(all, " ")
		}
		if !found || got != test.want {
			t.Errorf("%s %s: got %s, want %s", test.format, test.job, got, test.want)
		}
	}
}

// TestValid shows that what is imported is what a scheduler takes, but for what the sources have wrong.
func TestValid(t *testing.T) {
	wrong := map[string]bool{"never": true, "bad": true} // minute 61, and LW, which nothing here can say
	checker := check.New(check.Config{})
	defer checker.Close()
	for _, format := range importer.Formats() {
		for _, j := range sample(t, format).Jobs {
			body := j.Document.Without("name", "collection")
			if j.Key.Job == "" {
				body = j.Document.Without("name", "type")
			}
			if _, err := checker.Document(j.Key, body.JSON(), false); (err != nil) != wrong[j.Key.Job] {
				t.Errorf("%s %s: %v", format, j.Key, err)
			}
		}
	}
}

// TestNothingIsSilent puts an unknown member at every place of a source, and finds each in the report.
func TestNothingIsSilent(t *testing.T) {
	tests := map[string]string{
		"k8s":         `{"kind": "CronJob", "UNKNOWN": 1, "metadata": {"name": "a", "UNKNOWN": 1}, "spec": {"schedule": "* * * * *", "UNKNOWN": 1, "jobTemplate": {"spec": {"backoffLimit": 1, "UNKNOWN": 1}}}}`,
		"arm":         `{"resources": [{"type": "Microsoft.Scheduler/jobCollections", "name": "a", "UNKNOWN": 1, "properties": {"state": "Enabled", "UNKNOWN": 1}}], "UNKNOWN": 1}`,
		"eventbridge": `{"Name": "a", "ScheduleExpression": "rate(1 day)", "UNKNOWN": 1, "FlexibleTimeWindow": {"Mode": "OFF", "UNKNOWN": 1}, "Target": {"Arn": "b", "UNKNOWN": 1, "RetryPolicy": {"MaximumRetryAttempts": 1, "UNKNOWN": 1}}}`,
		"awx":         `{"name": "a", "rrule": "DTSTART:20260101T150916Z RRULE:FREQ=DAILY;INTERVAL=1", "UNKNOWN": 1, "unified_job_template": {"name": "b", "UNKNOWN": 1}}`,
		"obsidian":    `{"nickname": "a", "jobClass": "b", "UNKNOWN": 1, "schedules": [{"schedule": "0 0 * * *", "UNKNOWN": 1}]}`,
	}
	for format, source := range tests {
		r, err := importer.Import(format, []byte(source), importer.Options{Runner: "https://runner.example"})
		if err != nil {
			t.Fatal(err)
		}
		told := 0
		for _, n := range r.Notes {
			if strings.Contains(n.Field, "UNKNOWN") {
				told++
			}
		}
		if want := strings.Count(source, "UNKNOWN"); told != want {
			t.Errorf("%s: %d of %d members are in the report", format, told, want)
		}
	}
}

// TestLists: of a list that goes on elsewhere it is said so, each member beside one is in the report, unless it says nothing
// of the entries, and an empty list has no entries.
func TestLists(t *testing.T) {
	tests := []struct {
		format, source string
		want           []string // level and field
	}{
		{"k8s", `{"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": "7", "continue": "x"}, "items": []}`, []string{"failed metadata.continue"}},
		{"k8s", `{"metadata": {"continue": ""}, "items": [], "UNKNOWN": 1}`, []string{"dropped UNKNOWN"}},
		{"arm", `{"value": [], "nextLink": "https://a.example"}`, []string{"failed nextLink"}},
		{"arm", `{"value": [], "nextLink": null}`, nil},
		{"eventbridge", `{"Rules": [], "NextToken": "x"}`, []string{"failed NextToken"}},
		{"awx", `{"count": 2, "next": "/api/v2/schedules/?page=2", "previous": null, "results": []}`, []string{"failed next"}},
		{"awx", `{"schedules": [], "job_templates": []}`, []string{"dropped job_templates"}},
		{"obsidian", `[]`, nil},
	}
	for _, test := range tests {
		r, err := importer.Import(test.format, []byte(test.source), importer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range r.Notes {
			got = append(got, string(n.Level)+" "+n.Field)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.source, got, test.want)
		}
	}
}

// TestNotDeployed: what stands in a collection that a template does not deploy is in the report, too.
func TestNotDeployed(t *testing.T) {
	source := `{"resources": [{"type": "Microsoft.Scheduler/jobCollections", "name": "partners", "condition": false, "resources": [
		{"type": "jobs", "name": "nightly", "properties": {"action": {}}}, {"type": "jobs", "properties": {"action": {}}}]}]}`
	r, err := importer.Import("arm", []byte(source), importer.Options{})
	if err != nil || len(r.Jobs) != 0 {
		t.Fatalf("got %+v and %v", r, err)
	}
	var got []string
	for _, n := range r.Notes {
		got = append(got, string(n.Level)+" "+n.Entry)
	}
	if want := []string{"dropped partners", "dropped nightly", "dropped partners"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestPlaceWithoutName: a URI for the runner is not made with nothing in the place of a name.
func TestPlaceWithoutName(t *testing.T) {
	source := `{"name": "a", "rrule": "DTSTART:20260101T150916Z RRULE:FREQ=DAILY;INTERVAL=1", "unified_job_template": 7}`
	r, err := importer.Import("awx", []byte(source), importer.Options{Runner: "https://runner.example/{name}"})
	if err != nil || len(r.Jobs) != 0 || len(r.Notes) != 1 || r.Notes[0].Level != importer.Failed || !strings.Contains(r.Notes[0].Message, "{name}") {
		t.Errorf("got %+v and %v", r, err)
	}
}

// TestExpressions evaluates expressions of resource templates as Azure does, or not at all.
func TestExpressions(t *testing.T) {
	tests := map[string]string{
		`[concat('a', '''b', 7)]`:                          `a'b7`,
		`[format('{1}-{0}', 'a', parameters('p'))]`:        "P-a",
		`[toUpper(variables('v').a[1])]`:                   "Y",
		`[variables('v')['a'][0]]`:                         "x",
		`[variables('v').a[ 0 ]]`:                          "x",
		`[concat(variables('v').a[0], toLower('B'), 'c')]`: "xbc",
		`[[as it is]`:                                      "[as it is]",
		`[format('{0:N2}', 7)]`:                            "",
		`[variables('v').a[2]]`:                            "",
		`[variables('v').none]`:                            "",
		`[variables('v').a[0]`:                             "",
		`[variables('endless')]`:                           "",
		`[variables('v30')]`:                               "", // a thousand million bytes
		`[copyIndex()]`:                                    "",
		`[resourceGroup().location]`:                       "",
		`[concat(variables('v'))]`:                         "",
		`['a' 'b']`:                                        "",
	}
	variables := map[string]any{"v": map[string]any{"a": []string{"x", "y"}}, "endless": "[variables('endless')]", "v0": "x"}
	for i := range 30 {
		variables[fmt.Sprintf("v%d", i+1)] = fmt.Sprintf("[concat(variables('v%d'), variables('v%[1]d'))]", i)
	}
	for expression, want := range tests {
		source, err := json.Marshal(map[string]any{
			"parameters": map[string]any{"p": map[string]any{"defaultValue": "P"}},
			"variables":  variables,
			"resources": []any{map[string]any{
				"type": "Microsoft.Scheduler/jobCollections/jobs", "name": "c/j", "properties": map[string]any{"action": expression},
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		r, err := importer.Import("arm", source, importer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(r.Jobs) == 1 {
			v, _ := r.Jobs[0].Document.Member("action")
			got = v.Text()
		}
		if failed := len(r.Notes) == 1 && r.Notes[0].Level == importer.Failed; got != want || failed != (want == "") {
			t.Errorf("%s: got %q and %+v, want %q", expression, got, r.Notes, want)
		}
	}
}

// TestWithoutRunner leaves out what Carillon does not run itself, and says so.
func TestWithoutRunner(t *testing.T) {
	r, err := importer.Import("crontab", []byte("0 0 * * * /bin/true\n"), importer.Options{})
	if err != nil || len(r.Jobs) != 0 || len(r.Notes) != 1 || r.Notes[0].Level != importer.Failed || !strings.Contains(r.Notes[0].Message, "--target-uri") {
		t.Errorf("got %+v and %v", r, err)
	}
}

// FuzzImport reads anything as anything: an import ends in a result or an error.
func FuzzImport(f *testing.F) {
	for _, seed := range []string{"* * * * * a", `{"items": [{"kind": "CronJob"}]}`, `{"resources": [{"name": "[concat(variables('a"}]}`, "@", "-", "[]", "{}"} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, source string) {
		for _, format := range importer.Formats() {
			_, _ = importer.Import(format, []byte(source), importer.Options{Runner: "https://runner.example/{name}", System: len(source)%2 == 0})
		}
	})
}
