package document_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// TestDifference names each place at which two documents differ, and shows no secret.
func TestDifference(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"same", `{"a": 1, "b": [1, {"c": 2}]}`, `{"a": 1, "b": [1, {"c": 2}]}`, `null`},
		{"changed", `{"a": {"b": 1}}`, `{"a": {"b": 2}}`, `[{"path":"p.a.b","before":1,"after":2}]`},
		{"new and gone", `{"a": 1}`, `{"b": {"c": 1}}`, `[{"path":"p.a","before":1},{"path":"p.b","after":{"c":1}}]`},
		{"null is nothing", `{"a": null}`, `{}`, `null`},
		{"elements", `{"a": [1, 2]}`, `{"a": [1, 3]}`, `[{"path":"p.a[1]","before":2,"after":3}]`},
		{"lengths", `{"a": [1, 2]}`, `{"a": [1]}`, `[{"path":"p.a","before":[1,2],"after":[1]}]`},
		{"kinds", `{"a": "1"}`, `{"a": {"b": 1}}`, `[{"path":"p.a","before":"1","after":{"b":1}}]`},
		{"odd names", `{"a.b": 1}`, `{"a.b": 2}`, `[{"path":"p[\"a.b\"]","before":1,"after":2}]`},
		{"secret", `{"a": 1, "s": "hidden"}`, `{"a": 1, "s": "other"}`, `[{"path":"p.s","secret":true}]`},
		{"secret that is gone", `{"s": "hidden"}`, `{}`, `[{"path":"p.s","secret":true}]`},
		{"secret in what is new", `{}`, `{"in": {"a": 1, "s": "hidden"}}`, `[{"path":"p.in","after":{"a":1}}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := json.Marshal(document.Difference("p", marked(t, c.before), marked(t, c.after)))
			if err != nil || string(got) != c.want {
				t.Errorf("got %s (%v)\nwant %s", got, err, c.want)
			}
		})
	}
}

// marked reads a document in which the members s are secrets.
func marked(t *testing.T, text string) document.Value {
	t.Helper()
	v, err := document.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	mark(document.NewReader().Object(v, ""))
	return v
}

func mark(o *document.Object) {
	_, _ = o.Secret("s")
	if v, ok := o.Value("in"); ok && v.Kind() == document.KindObject {
		mark(o.Inner("in", v))
	}
}

// TestChangedPathsTellWhereAndNotWhat shows that a difference is told by its place alone.
func TestChangedPathsTellWhereAndNotWhat(t *testing.T) {
	tests := []struct {
		before, after string
		want          []string
	}{
		{`{"a": 1}`, `{"a": 1}`, nil},
		{`{"a": 1, "b": {"c": "x", "d": 2}}`, `{"a": 2, "b": {"c": "y", "d": 2}}`, []string{"a", "b.c"}},
		{`{"a": {"b": 1}}`, `{}`, []string{"a"}},
		{`{}`, `{"a": {"b": 1}}`, []string{"a"}},
		{`{"a": [1, 2]}`, `{"a": [1, 3]}`, []string{"a[1]"}},
		{`{"a": [1, 2]}`, `{"a": [1]}`, []string{"a"}},
		{`{"a": {}}`, `{"a": []}`, []string{"a"}},
		{
			`{"headers": {"X-Key": "old"}}`, `{"headers": {"X-Key": "new", "Odd name": "1"}}`,
			[]string{"headers.X-Key", `headers["Odd name"]`},
		},
		{`{"a":1,"b":1,"c":1,"d":1}`, `{"a":2,"b":2,"c":2,"d":2}`, []string{"a", "b", "c"}}, // no more than asked for
	}
	for _, test := range tests {
		if got := document.ChangedPaths(parsed(t, test.before), parsed(t, test.after), 3); !slices.Equal(got, test.want) {
			t.Errorf("%s → %s: %q, want %q", test.before, test.after, got, test.want)
		}
	}
}

func parsed(t *testing.T, text string) document.Value {
	t.Helper()
	v, err := document.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
