package edit_test

import (
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/edit"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// TestLost tells what of somebody else's changes would be lost with mine.
func TestLost(t *testing.T) {
	const before = `{"a": {"b": 1, "c": 1}, "hours": [1, 2], "d": "x"}`
	for _, c := range []struct{ mine, theirs, changed, lost string }{
		{`{"a": {"b": 2, "c": 1}, "hours": [1, 2], "d": "x"}`, `{"a": {"b": 1, "c": 3}, "hours": [1, 2], "d": "x"}`, "a.c: 1 -> 3", ""},
		{`{"a": {"b": 2, "c": 1}, "hours": [1, 2], "d": "x"}`, `{"a": {"b": 3, "c": 1}, "hours": [1, 2], "d": "x"}`, "a.b: 1 -> 3", "a.b: 1 -> 3"},
		{`{"hours": [1, 2], "d": "x"}`, `{"a": {"b": 3, "c": 1}, "hours": [1, 2], "d": "x"}`, "a.b: 1 -> 3", "a.b: 1 -> 3"},
		{`{"a": {"b": 2, "c": 1}, "hours": [1, 2], "d": "x"}`, `{"hours": [1, 2]}`, `a: {"b":1,"c":1} -> nothing|d: "x" -> nothing`, `a: {"b":1,"c":1} -> nothing`},
		{`{"a": {"b": 1, "c": 1}, "hours": [9, 2], "d": "x"}`, `{"a": {"b": 1, "c": 1}, "hours": [1, 8], "d": "x"}`, "hours[1]: 2 -> 8", "hours[1]: 2 -> 8"},
		{before, `{"a": {"b": 1, "c": 1}, "hours": [1, 2], "d": "y"}`, `d: "x" -> "y"`, ""},
	} {
		changed := document.Difference("", parsed(t, before), parsed(t, c.theirs))
		lost := edit.Lost(document.Difference("", parsed(t, before), parsed(t, c.mine)), changed)
		if got := strings.Join(edit.Lines(changed), "|"); got != c.changed {
			t.Errorf("%s over %s: changed %s, want %s", c.mine, c.theirs, got, c.changed)
		}
		if got := strings.Join(edit.Lines(lost), "|"); got != c.lost {
			t.Errorf("%s over %s: lost %s, want %s", c.mine, c.theirs, got, c.lost)
		}
	}
}

func parsed(t *testing.T, text string) document.Value {
	t.Helper()
	return must.Get(document.Parse([]byte(text)))(t)
}
