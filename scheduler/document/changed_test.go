package document_test

import (
	"slices"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/document"
)

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
