package expression_test

import (
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/expression"
)

func TestCompileErrors(t *testing.T) {
	const fields = "; fields of event are attributes, collection, data, id, name, sequence, time, topic"
	tests := []struct{ text, want string }{
		{"event.id == evnt.id", "1:13: undeclared reference to 'evnt'; variables are event and job"},
		{"true &&\n  evnt.id == ''", "2:3: undeclared reference to 'evnt'; variables are event and job"},
		{"b == a", "1:1: undeclared reference to 'b'; variables are event and job"},
		{"event.dat.total > 1", "1:6: undefined field 'dat'" + fields},
		{"has(event.dat)", "1:4: undefined field 'dat'" + fields},
		{"job.nam == ''", "1:4: undefined field 'nam'; fields of job are collection, data, labels, name"},
		{"event.id.total == 1", "1:9: type 'string' does not support field selection"},
		{"event.id > 1", "1:10: '>' does not accept (string, int)"},
		{"'Köln' > 1", "1:8: '>' does not accept (string, int)"},
		{"event.id.replace('a') == ''", "1:17: 'replace' does not accept string.(string)"},
		{"now() > event.time", "1:4: undeclared function 'now'"},
		{"event.data.total >", "1:19: syntax error: mismatched input '<EOF>'"},
		{"event.data.total = 1", "1:18: syntax error: token recognition error at: '= '"},
		{"event.name", "must yield a bool, got string"},
		{"event", "must yield a bool, got event"},
		{"", "must not be empty"},
		{" \n", "must not be empty"},
		{"\xff == 1", "must be valid UTF-8"},
		{strings.Repeat(" ", 4093) + "true", "must have at most 4096 bytes, got 4097"},
		{strings.Repeat("(", 300) + "true" + strings.Repeat(")", 300), "expression recursion limit exceeded: 250"},
		{
			"'%.999999999f'.format([1.0]) == ''", "1:22: could not parse formatting clause: error while parsing precision: " +
				"precision 999999999 exceeds maximum allowed precision 100",
		},
		{"event.id.matches('(')", "error parsing regexp: missing closing ): `(`"},
		{"event.id.matches('a{1000}b{1000}')", "regular expression costs too much: at most 1000 instructions, got 2002"},
	}
	for _, test := range tests {
		if _, err := expression.Condition(test.text); message(err) != test.want {
			t.Errorf("%.60q: got %v, want %s", test.text, err, test.want)
		}
	}
	for text, want := range map[string]string{
		"[event.id]":     "must yield a string, number, bool or timestamp, got list(string)",
		"duration('1s')": "must yield a string, number, bool or timestamp, got duration",
		"null":           "must yield a string, number, bool or timestamp, got null",
	} {
		if _, err := expression.Text(text); message(err) != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	const want = "must yield a timestamp, RFC 3339 string or duration, got int"
	if _, err := expression.Instant("event.sequence"); message(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
