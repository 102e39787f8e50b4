package rest_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/rest"
)

// awxRow is a row of testdata/awx.jsonl of package spec: a recurrence and what
// AWX's preview makes of it at a certain time. Errors is empty where AWX's
// document refuses what its code lets pass.
type awxRow struct {
	ID       string    `json:"id"`
	RRule    string    `json:"rrule"`
	Now      time.Time `json:"now"`
	Expected string    `json:"expected"`
	Errors   []string  `json:"errors"`
	Preview  awxTimes  `json:"preview"`
}

// awxTimes is what the preview answers.
type awxTimes struct {
	Local []string `json:"local"`
	UTC   []string `json:"utc"`
}

// awxErrors is what it answers to a recurrence that it does not take.
type awxErrors struct {
	RRule []string `json:"rrule"`
}

func readAWXRows(t *testing.T) []awxRow {
	t.Helper()
	file := must.Get(os.Open("../spec/testdata/awx.jsonl"))(t)
	defer file.Close()
	var rows []awxRow
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var row awxRow
		must.Do(t, json.Unmarshal(lines.Bytes(), &row))
		rows = append(rows, row)
	}
	return rows
}

// TestPreviewAWX previews recurrences, each at its own time: in a bubble, where
// time passes by sleeping.
func TestPreviewAWX(t *testing.T) {
	rows := readAWXRows(t)
	if len(rows) < 60 {
		t.Errorf("%d rows", len(rows))
	}
	for _, row := range rows {
		t.Run(row.ID, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(row.Now))
				row.check(t)
			})
		})
	}
}

func (row awxRow) check(t *testing.T) {
	t.Helper()
	status, body := postAWX(t, row.RRule)
	if row.Expected == "reject" {
		var got awxErrors
		if err := json.Unmarshal(body, &got); err != nil || status != http.StatusBadRequest || len(got.RRule) == 0 || slices.Contains(got.RRule, "") {
			t.Fatalf("%s: %d %s, want it refused", row.RRule, status, body)
		}
		if diff := cmp.Diff(row.Errors, got.RRule); row.Errors != nil && diff != "" {
			t.Errorf("%s: -want +got\n%s", row.RRule, diff)
		}
		return
	}
	var got awxTimes
	if err := json.Unmarshal(body, &got); err != nil || status != http.StatusOK || !strings.HasPrefix(string(body), `{"local":[`) {
		t.Fatalf("%s: %d %s", row.RRule, status, body)
	}
	if diff := cmp.Diff(row.Preview, got); diff != "" {
		t.Errorf("%s: -want +got\n%s", row.RRule, diff)
	}
}

// postAWX posts a recurrence to an API whose service has no store, and no need of one.
func postAWX(t *testing.T, rrule string) (status int, answer []byte) {
	t.Helper()
	body := must.Get(json.Marshal(map[string]string{"rrule": rrule}))(t)
	out := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v2/schedules/preview/", strings.NewReader(string(body)))
	rest.New(rest.Config{Service: &control.Service{}}).ServeHTTP(out, r)
	return out.Code, out.Body.Bytes()
}

// TestAWX asks what clients of AWX ask, rightly and wrongly.
func TestAWX(t *testing.T) {
	const preview, zones = "/api/v2/schedules/preview/", "/api/v2/schedules/zoneinfo/"
	w := newHarness(t)
	w.steps([]step{
		{
			"POST", preview, `{"rrule": "DTSTART;TZID=America/New_York:20990115T120000 RRULE:FREQ=DAILY;INTERVAL=1;COUNT=2"}`,
			`200 {"local":["2099-01-15T12:00:00-05:00","2099-01-16T12:00:00-05:00"],"utc":["2099-01-15T17:00:00Z","2099-01-16T17:00:00Z"]}`,
		},
		{"POST", strings.TrimSuffix(preview, "/"), `{"rrule": "DTSTART:20990115T120000Z RRULE:FREQ=DAILY;INTERVAL=1;COUNT=1"}`, `200 {"local":["2099-01-15T12:00:00Z"],"utc":["2099-01-15T12:00:00Z"]}`},
		{"POST", preview + "?format=json", ` {"name": "more", "rrule": "  DTSTART:20180601T120000Z RRULE:FREQ=DAILY;INTERVAL=1;COUNT=1\n"}`, `200 {"local":[],"utc":[]}`},
		{"POST", preview, `{}`, `400 {"rrule":["This field is required."]}`},
		{"POST", preview, ``, `400 {"rrule":["This field is required."]}`},
		{"POST", preview, `{"rule": "x"}`, `400 {"rrule":["This field is required."]}`},
		{"POST", preview, `{"rrule": null}`, `400 {"rrule":["This field may not be null."]}`},
		{"POST", preview, `{"rrule": ""}`, `400 {"rrule":["This field may not be blank."]}`},
		{"POST", preview, `{"rrule": " \n"}`, `400 {"rrule":["This field may not be blank."]}`},
		{"POST", preview, `{"rrule": 5}`, `400 {"rrule":["Not a valid string."]}`},
		{"POST", preview, `{"rrule": ["RRULE:FREQ=DAILY"]}`, `400 {"rrule":["Not a valid string."]}`},
		{"POST", preview, `{"rrule": "x"`, `400 {"detail":"JSON parse error - 1:14: expected a comma or }`},
		{"POST", preview, `{'rrule': 'x'}`, `400 {"detail":"JSON parse error - 1:2: expected a field name in double quotes"}`},
		{"POST", preview, `rrule: x`, `400 {"detail":"JSON parse error - `},
		{"POST", preview, `["x"]`, `400 {"detail":"JSON parse error - not a JSON object"}`},
		{"POST", preview, "{\"rrule\": \"\xff\"}", `400 {"detail":"JSON parse error - 1:12: not valid UTF-8"}`},
		{"POST", preview, `{"rrule": "RRULE:FREQ=DAILY;INTERVAL=1"}`, `400 {"rrule":["Valid DTSTART required in rrule. Value should start with: DTSTART:YYYYMMDDTHHMMSSZ",`},
		{"POST", preview, `{"rrule": "DTSTART:20300308T050000Z RRULE:FREQ=SECONDLY;INTERVAL=1"}`, `400 {"rrule":["SECONDLY is not supported: RULE:FREQ=SECONDLY;INTERVAL=1"]}`},
		{"POST", preview, `{"rrule": "` + strings.Repeat("x", 16<<10) + `"}`, `413 {"detail":"the body is 16397 bytes long`},
		{"POST", preview, strings.Repeat(" ", 1<<20+1), `413 {"detail":"the body is more than 1048576 bytes`},
		{"GET", preview, "", `405 {"detail":"Method \"GET\" not allowed."}`},
		{"PUT", strings.TrimSuffix(preview, "/"), "{}", `405 {"detail":"Method \"PUT\" not allowed."}`},
		{"GET", zones, "", `200 [{"name":"Africa/Abidjan"},{"name":"Africa/Accra"},{"name":"Africa/Addis_Ababa"},|{"name":"Europe/Berlin"}|{"name":"UTC"}|]`},
		{"GET", strings.TrimSuffix(zones, "/"), "", `200 [{"name":"Africa/Abidjan"},`},
		{"HEAD", zones, "", `200`},
		{"POST", zones, "{}", `405 {"detail":"Method \"POST\" not allowed."}`},
		{"GET", "/api/v2/schedules/none/", "", `404 {"detail":"Not found."}`},
		{"GET", zones + "more", "", `404 {"detail":"Not found."}`},
	})
	if r := w.do(http.MethodGet, preview, ""); r.header.Get("Allow") != "POST" {
		t.Errorf("Allow: %s", r.header.Get("Allow"))
	}
}

// TestZoneInfo checks that the zones are in order and can all be used.
func TestZoneInfo(t *testing.T) {
	out := httptest.NewRecorder()
	rest.New(rest.Config{Service: &control.Service{}}).ServeHTTP(out, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v2/schedules/zoneinfo/", http.NoBody))
	var zones []struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(out.Body.Bytes(), &zones); err != nil || len(zones) < 400 {
		t.Fatalf("%d zones, %v", len(zones), err)
	}
	for i, zone := range zones {
		if i > 0 && zone.Name <= zones[i-1].Name {
			t.Errorf("%s stands after %s", zone.Name, zones[i-1].Name)
		}
		status, body := postAWX(t, "DTSTART;TZID="+zone.Name+":20990115T120000 RRULE:FREQ=DAILY;INTERVAL=1;COUNT=1")
		if status != http.StatusOK || !strings.Contains(string(body), "2099-01-15T12:00:00") {
			t.Errorf("%s: %d %s", zone.Name, status, body)
		}
	}
}
