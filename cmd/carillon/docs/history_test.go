package docs_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/cmd/carillon/docs"
	"github.com/carillon-sched/carillon/cmd/carillon/docs/doctable"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// TestHistoryMembers compares the table of fields in the page about records with the fields that the APIs show, in
// their order and with their types. On NATS, a record has the same fields, and "engine" instead of "sequence".
func TestHistoryMembers(t *testing.T) {
	full := fullest(t)
	data := must.Get(full.Encode())(t)
	stored, _ := members(t, data)
	var shown struct {
		Properties json.RawMessage `json:"properties"`
	}
	must.Do(t, json.Unmarshal(v1.JSON(v1.Record(full)), &shown))
	names, types := members(t, shown.Properties)
	rows := [][]string{{"field", "type", "meaning"}}
	for _, name := range names {
		rows = append(rows, []string{"`" + name + "`", types[name]})
	}
	doctable.Check(t, "reference/records.md", "## Records", rows)
	if diff := cmp.Diff(append(names[:len(names)-1:len(names)-1], "engine"), stored); diff != "" {
		t.Errorf("on NATS (-shown +stored)\n%s", diff)
	}
}

// TestSkipReasons compares the reasons of skips in the page about metrics with the scheduler's.
func TestSkipReasons(t *testing.T) {
	page := must.Get(docs.Find("metrics"))(t)
	_, got, _ := strings.Cut(page.Text, "| skipped: ")
	got, _, _ = strings.Cut(got, "postponed: ")
	got = strings.Join(regexp.MustCompile("`\\w+`").FindAllString(got, -1), " ")
	var want []string
	for _, r := range scheduler.Reasons {
		want = append(want, "`"+string(r)+"`")
	}
	if diff := cmp.Diff(strings.Join(want, " "), strings.TrimSpace(got)); diff != "" {
		t.Errorf("reference/metrics.md: the reasons in the table of labels (-code +page)\n%s", diff)
	}
}

// fullest is a record of which every member is shown.
func fullest(t *testing.T) *scheduler.Record {
	t.Helper()
	at := time.Date(2026, 3, 8, 9, 0, 0, 0, time.UTC)
	r := &scheduler.Record{
		Job: scheduler.Key{Collection: "c", Job: "j"}, Sequence: 7, Kind: scheduler.Manual, Try: 1,
		Trace:     &scheduler.BatonTrace{TraceContext: scheduler.TraceContext{Parent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}},
		Resubmits: &scheduler.Resubmission{Nominal: at}, Progress: scheduler.Progress{Number: 3},
		Data: json.RawMessage(`{"order":7}`), Cause: &scheduler.Cause{Event: "sales.order", Sequence: 12, Count: 1, Since: at},
	}
	v := reflect.ValueOf(r).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case !f.IsZero():
		case f.Type() == reflect.TypeFor[time.Time]():
			f.Set(reflect.ValueOf(at))
		case f.Kind() == reflect.String:
			f.SetString("text")
		case f.CanInt():
			f.SetInt(1500)
		case f.Kind() == reflect.Bool && v.Type().Field(i).Name != "Damaged":
			f.SetBool(true)
		}
	}
	form := reflect.ValueOf(r.Form())
	for i := range form.NumField() {
		if form.Field(i).IsZero() {
			t.Fatalf("RecordForm.%s has no value: set it in Form of recordform.go, and a value that it shows in fullest", form.Type().Field(i).Name)
		}
	}
	return r
}

// members are those of an object in their order, and their types as the page names them.
func members(t *testing.T, data []byte) (names []string, types map[string]string) {
	t.Helper()
	seconds := map[string]bool{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[scheduler.RecordForm]()) {
		name, _, _ := bytes.Cut([]byte(f.Tag.Get("json")), []byte(","))
		seconds[string(name)] = f.Type == reflect.TypeFor[scheduler.Seconds]() || f.Type == reflect.TypeFor[*scheduler.Seconds]()
	}
	types = map[string]string{}
	d := json.NewDecoder(bytes.NewReader(data))
	must.Get(d.Token())(t)
	for d.More() {
		name := must.Get(d.Token())(t)
		var value any
		must.Do(t, d.Decode(&value))
		key, _ := name.(string)
		names, types[key] = append(names, key), typeOf(value, seconds[key])
	}
	return names, types
}

func typeOf(value any, seconds bool) string {
	switch v := value.(type) {
	case bool:
		return "boolean"
	case float64:
		if seconds {
			return "seconds"
		}
		return "number"
	case string:
		if _, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return "time"
		}
		return "text"
	}
	return "object"
}
