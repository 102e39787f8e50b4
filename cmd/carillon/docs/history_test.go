package docs_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/cmd/carillon/docs"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// TestHistoryMembers: the page has every member of a record, in their order and with
// their types, as the APIs show them and as NATS has them.
func TestHistoryMembers(t *testing.T) {
	page, err := docs.Find("records")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	var order []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` +\\| (time|text|number|seconds|boolean|object) +\\| ").FindAllStringSubmatch(page.Text, -1) {
		documented[row[1]] = row[2]
		order = append(order, row[1])
	}
	full := fullest(t)
	data, err := full.Encode()
	if err != nil {
		t.Fatal(err)
	}
	stored, _ := members(t, data)
	var shown struct {
		Properties json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(v1.JSON(v1.Record(full)), &shown); err != nil {
		t.Fatal(err)
	}
	names, types := members(t, shown.Properties)
	if diff := cmp.Diff(order, names); diff != "" {
		t.Errorf("the table of records.md needs a row for each member, in the order of the codec (-documented +shown)\n%s", diff)
	}
	if diff := cmp.Diff(documented, types); diff != "" {
		t.Errorf("the types in the table of records.md (-documented +shown)\n%s", diff)
	}
	if diff := cmp.Diff(append(order[:len(order)-1:len(order)-1], "engine"), stored); diff != "" {
		t.Errorf("on NATS (-documented +stored)\n%s", diff)
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
		Data: json.RawMessage(`{"order":7}`),
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
			t.Fatalf("%s has no value", form.Type().Field(i).Name)
		}
	}
	return r
}

// members are those of an object in their order, and their types as the page calls them.
func members(t *testing.T, data []byte) (names []string, types map[string]string) {
	t.Helper()
	seconds := map[string]bool{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[scheduler.RecordForm]()) {
		name, _, _ := bytes.Cut([]byte(f.Tag.Get("json")), []byte(","))
		seconds[string(name)] = f.Type == reflect.TypeFor[scheduler.Seconds]() || f.Type == reflect.TypeFor[*scheduler.Seconds]()
	}
	types = map[string]string{}
	d := json.NewDecoder(bytes.NewReader(data))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
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
