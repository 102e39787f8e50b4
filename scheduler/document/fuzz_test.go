package document_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// FuzzParse checks that no text panics, that what was parsed survives its own JSON, and that encoding/json agrees on
// what JSON is and means.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		sampleJob, `{"a":"\ud83d\ude00\u0001","b":[1e5,-0.5,true,null]}`, "a: &x [1, {b: c}]\nd: *x\n---\ne: |\n  f\n",
		`{"a":1,"a":2}`, "a: 0x1F\nb: '1'\n? c\n: d", "[[[[", "- - - a", "\"\\ud800\"", "%YAML 1.2\n--- !!str x",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		values, err := document.ParseAll(data)
		if err != nil {
			if _, ok := err.(document.Problem); !ok { //nolint:errorlint // it must be just that
				t.Fatalf("error is a %T", err)
			}
			return
		}
		for _, v := range values {
			checkRoundTrip(t, v)
		}
		checkJSON(t, data, values)
	})
}

func checkRoundTrip(t *testing.T, v document.Value) {
	t.Helper()
	text := v.JSON()
	if !json.Valid(text) {
		t.Fatalf("not JSON: %s", text)
	}
	if kind := v.Kind(); kind != document.KindObject && kind != document.KindArray {
		return // would be read as YAML
	}
	again, err := document.Parse(text)
	if err != nil || !bytes.Equal(again.JSON(), text) {
		t.Fatalf("%s reads as %s, %v", text, again, err)
	}
}

// checkJSON compares what was accepted as JSON with what the standard library makes of it.
func checkJSON(t *testing.T, data []byte, values []document.Value) {
	t.Helper()
	if start := bytes.TrimLeft(data, " \t\r\n"); start[0] != '{' && start[0] != '[' {
		return
	}
	var want, got any
	if err := unmarshal(data, &want); err != nil {
		t.Fatalf("accepted %q: %v", data, err)
	}
	if err := unmarshal(values[0].JSON(), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%q reads as %s, %v", data, values[0], err)
	}
}

func unmarshal(data []byte, v *any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(v)
}
