package document_test

import (
	"testing"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// TestPatch makes patches, and merges them.
func TestPatch(t *testing.T) {
	for _, test := range []struct{ from, to, want string }{
		{`{"a": 1}`, `{"a": 1}`, `{}`},
		{`{"a": 1, "b": 2}`, `{"b": 2, "a": 1}`, `{}`},
		{`{"a": 1}`, `{"a": 2}`, `{"a":2}`},
		{`{"a": 1}`, `{"b": 1}`, `{"a":null,"b":1}`},
		{`{"a": {"b": {"c": 1, "d": 2}}}`, `{"a": {"b": {"c": 1}}}`, `{"a":{"b":{"d":null}}}`},
		{`{"a": {"b": 1}}`, `{"a": [1]}`, `{"a":[1]}`},
		{`{"a": [1, 2]}`, `{"a": [2, 1]}`, `{"a":[2,1]}`},
		{`{"a": "x"}`, `{"a": {"b": 1}}`, `{"a":{"b":1}}`},
		{`{"uri": "x"}`, `{"URI": "y"}`, `{"uri":"y"}`},
		{`{"a": {}}`, `{"a": {"password": null}}`, `{"a":{"password":null}}`},
		{`{}`, `{}`, `{}`},
	} {
		from, err := document.Parse([]byte(test.from))
		if err != nil {
			t.Fatal(err)
		}
		to, err := document.Parse([]byte(test.to))
		if err != nil {
			t.Fatal(err)
		}
		patch, changed := document.Patch(from, to)
		if got := patch.String(); got != test.want || changed != (got != "{}") {
			t.Errorf("%s to %s: got %s, %v", test.from, test.to, got, changed)
		}
	}
}
