package document_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/document"
)

func TestValue(t *testing.T) {
	v := document.ObjectValue(
		document.Member{Name: "s", Value: document.StringValue("a\xffb\"c")},
		document.Member{Name: "n", Value: document.NumberValue("1.50")},
		document.Member{Name: "b", Value: document.BoolValue(true)},
		document.Member{Name: "a", Value: document.ArrayValue(document.Value{}, document.BoolValue(false))},
	)
	text, err := json.Marshal(map[string]any{"v": v})
	if want := `{"v":{"s":"a` + "\uFFFD" + `b\"c","n":1.50,"b":true,"a":[null,false]}}`; err != nil || string(text) != want {
		t.Errorf("got %s, %v; want %s", text, err, want)
	}
	s, _ := v.Member("s")
	b, _ := v.Member("b")
	a, _ := v.Member("a")
	if s.Text() != "a\xffb\"c" || !b.Bool() || len(a.Items()) != 2 || len(v.Members()) != 4 || a.Items()[0].Kind() != document.KindNull {
		t.Error("a value does not hold what it was made of")
	}
	if _, ok := v.Member("S"); ok {
		t.Error("Member compares without case")
	}
}

func TestManyMembers(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, `"m%d":%d,`, i, i)
	}
	if v := parse(t, "{"+b.String()+`"x":0}`); len(v.Members()) != 101 {
		t.Errorf("%d members", len(v.Members()))
	}
	if _, err := document.Parse([]byte("{" + b.String() + `"m50":0}`)); err == nil || !strings.Contains(err.Error(), `duplicate field "m50"`) {
		t.Errorf("error is %v", err)
	}
}

func TestProblems(t *testing.T) {
	var err error = document.Problems{{Path: "a.b", Message: "is wrong"}, {Message: "is empty"}}
	if err.Error() != "a.b: is wrong\nis empty" {
		t.Errorf("got %q", err)
	}
	if p, ok := errors.AsType[document.Problem](fmt.Errorf("job x: %w", err)); !ok || p.Path != "a.b" {
		t.Errorf("got %v", p)
	}
}

// TestSyntaxErrorsQuoteNothing shows that the error of a document that cannot
// be read repeats nothing of a secret in it, wherever it breaks.
func TestSyntaxErrorsQuoteNothing(t *testing.T) {
	const secret = "hunter2x"
	shapes := []string{
		// JSON
		`{"a": "S" "b"}`, `{"a": "S`, `{"a" "S"}`, `{"S"}`, `{"a": "S\q"}`, `{"a": S}`, `{"a": "S"]`, `["S" "S"]`, `{"a": "S\u12"}`,
		"{\"a\": \"S\n\"}", `{"a": 'S'}`, `{"a": "S"} S`, `{"a": {"b": ["S", ]}}`, `{"a": 0S}`, `{"a": truS}`, `{"a": "S\`, `{a: "S"}`,
		// YAML
		`a: *S`, `a: &S`, `a: !S`, `a: !S x`, `a: !!S x`, `a: @S`, "a: `S", `a: %S`, `a: "S`, `a: 'S`, `a: "S\q"`, `a: [S`, `a: {S`, `a: S: x`,
		"a: S\n b: S\n  - S", "a: |S\n  x", "a: >S\n  x", "%YAML S\n---\na: b", "%TAG S\n---\na: b", "a: 0S", "a: 0123456S", "a: -S: -",
		"? S\n: x", "? [S]\n: x", "a:\n\t- S", "- S\nb: S", "a: S\n- b", "a: b\nS", "S\na: b", "<<: S", "<<: *S", "a: .S", "a: [S, *S]",
		"a: {b: S, *S : x}", "a: \"S\" S", "a: 'S' S", "a: |\n  S\n b", "a: !!int S", "a: !!float S", "a: !!binary S", "a: !!map S", "a: !!set S",
		"a: !!timestamp S", "a: !!bool S", "--- S\n--- S: S: S", "a: &x [*S]", "a: ]S", "a: }S", "a: ,S", "a: #S\n  S: S: S",
	}
	digits := "0" + strings.Repeat("7", 9) // a password of digits without quotes
	for _, shape := range shapes {
		for _, planted := range []string{secret, digits} {
			_, err := document.Parse([]byte(strings.ReplaceAll(shape, "S", planted)))
			if err != nil && strings.Contains(err.Error(), planted) {
				t.Errorf("%q: %v", shape, err)
			}
		}
	}
}
