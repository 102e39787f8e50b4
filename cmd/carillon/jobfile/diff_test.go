package jobfile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
)

func TestDiff(t *testing.T) {
	const long = `{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7, "h": 8, "i": 9}`
	for _, test := range []struct{ name, before, after, want string }{
		{"the same", long, long, ""},
		{"nothing", "", "", ""},
		{"new", "", `{"a": 1, "b": [2]}`, "+a: 1|+b: [2]"},
		{"gone", `{"a": 1}`, "", "-a: 1"},
		{"changed", `{"a": 1}`, `{"a": 2}`, "-a: 1|+a: 2"},
		{"in the middle", long, strings.Replace(long, `"e": 5`, `"e": 6`, 1), " b: 2| c: 3| d: 4|-e: 5|+e: 6| f: 6| g: 7| h: 8"},
		{
			"at both ends", long, strings.Replace(strings.Replace(long, `"a": 1, `, ``, 1), `9}`, `9, "j": 10}`, 1),
			"-a: 1| b: 2| c: 3| d: 4|~| g: 7| h: 8| i: 9|+j: 10",
		},
		{"moved", `{"a": 1, "b": 2}`, `{"b": 2, "a": 1}`, "-a: 1| b: 2|+a: 1"},
	} {
		var got []string
		for _, l := range jobfile.Diff([]byte(test.before), []byte(test.after)) {
			got = append(got, string(l.Mark)+l.Text)
		}
		if text := strings.Join(got, "|"); text != test.want {
			t.Errorf("%s: %s, want %s", test.name, text, test.want)
		}
	}
}

// TestDiffOfManyLines compares documents for which a table of all pairs of lines would have no room.
func TestDiffOfManyLines(t *testing.T) {
	var doc strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&doc, `, "m%d": %d`, i, i)
	}
	lines := jobfile.Diff([]byte(`{"first": 1`+doc.String()+`}`), []byte(`{"first": 2`+doc.String()+`}`))
	if len(lines) != 5 || lines[0].Text != "first: 1" || lines[1].Text != "first: 2" {
		t.Errorf("%d lines, of which the first are %v", len(lines), lines[:min(5, len(lines))])
	}
}
