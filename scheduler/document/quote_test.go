package document_test

import (
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/document"
)

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
