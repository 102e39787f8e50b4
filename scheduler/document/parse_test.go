package document_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/document"
)

func TestParse(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty object", ` { } `, `{}`},
		{"order and numbers are kept", `{"b":1.50,"a":-0,"c":1E+2}`, `{"b":1.50,"a":-0,"c":1E+2}`},
		{"nesting", "[1,[true,false,null],{\"a\":{}}]", `[1,[true,false,null],{"a":{}}]`},
		{"escapes", `{"a":"\u00e9\ud83d\ude00\/\b\f\n\r\t\"\\\u0001"}`, `{"a":"é😀/\b\f\n\r\t\"\\\u0001"}`},
		{"nothing is escaped without need", `{"a":"<&>\u2028\u007f"}`, "{\"a\":\"<&>\u2028\u007f\"}"},
		{"byte order mark", "\uFEFF{\"a\":1}", `{"a":1}`},
		{"names that differ by case only are two names", `{"A":1,"a":2}`, `{"A":1,"a":2}`},

		{"YAML", "b: 1\na: [x, 'y', \"z\"]\n", `{"b":1,"a":["x","y","z"]}`},
		{"YAML scalar", "x", `"x"`},
		{"YAML of JSON's kinds", "a: true\nb: ~\nc: null\nd:\ne: 1.50\nf: -7", `{"a":true,"b":null,"c":null,"d":null,"e":1.50,"f":-7}`},
		{"what older YAML took for other kinds is text", "a: yes\nb: on\nc: 2024-01-10\nd: 12:30:45\ne: 08:00", `{"a":"yes","b":"on","c":"2024-01-10","d":"12:30:45","e":"08:00"}`},
		{"YAML instants are text", "a: 2024-01-10T00:00:00Z", `{"a":"2024-01-10T00:00:00Z"}`},
		{"YAML numbers become JSON's", "a: 0x1F\nb: +5\nc: .5\nd: 1.\ne: 1_000\nf: -0x1f\ng: 0o17", `{"a":31,"b":5,"c":0.5,"d":1,"e":1000,"f":-31,"g":15}`},
		{"YAML block text", "a: |\n  x\n   y\nb: >-\n  x\n  y\n", `{"a":"x\n y\n","b":"x y"}`},
		{"YAML comments", "# c\na: 1 # d\n# e\n", `{"a":1}`},
		{"YAML aliases", "a: &x {b: [1]}\nc: *x\nd: [*x]", `{"a":{"b":[1]},"c":{"b":[1]},"d":[{"b":[1]}]}`},
		{"YAML directive and markers", "%YAML 1.2\n---\na: 1\n...\n", `{"a":1}`},
		{"YAML quoted names", "'a b': 1\n\"1\": 2", `{"a b":1,"1":2}`},
		{"YAML has no line breaks but two", "a: x\u2028y\u0085z\nb: |\n  \u2029\n", "{\"a\":\"x\u2028y\u0085z\",\"b\":\"\u2029\\n\"}"},
		{"YAML text that might be a number", "a: 12e4\nb: 1_x\nc: 08\nd: 99999999999999999999\ne: 1.2.3\nf: 0xZ", `{"a":"12e4","b":"1_x","c":"08","d":"99999999999999999999","e":"1.2.3","f":"0xZ"}`},
		{"YAML anchors of a scalar", "a: &x y\nb: *x", `{"a":"y","b":"y"}`},
		{"empty documents around one", strings.Repeat("---\n# c\n...\n", 500) + "a: 1\n---\n", `{"a":1}`},
		{"carriage returns", "a: 1\r\nb: 2\r\n", `{"a":1,"b":2}`},
	}
	for _, test := range tests {
		v, err := document.Parse([]byte(test.text))
		if err != nil || v.String() != test.want {
			t.Errorf("%s: Parse(%q) = %s, %v; want %s", test.name, test.text, v, err, test.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", "the document is empty"},
		{" \n\t", "the document is empty"},
		{"# nothing", "the document is empty"},
		{"---\n---\n", "the document is empty"},
		{"\xff", "1:1: not valid UTF-8"},
		{"{\"a\":\n \"\xc3\"}", "2:3: not valid UTF-8"},
		{`{"a":1} x`, "1:9: nothing may follow the document"},
		{`{"a":1}{}`, "1:8: nothing may follow the document"},
		{`{"a":1,}`, "1:8: expected a field name in double quotes; JSON has no comma before }"},
		{"{\"a\":[1,\n]}", "a[1]: 2:1: expected a value; JSON has no comma before ]"},
		{`{a:1}`, "1:2: expected a field name in double quotes"},
		{`{"a" 1}`, `1:6: expected a colon after a field name`},
		{`{"a":1 "b":2}`, "1:8: expected a comma or }"},
		{`{"a":1`, "1:7: expected a comma or }, but the document ends"},
		{`[1,]`, "[1]: 1:4: expected a value; JSON has no comma before ]"},
		{`[1 2]`, "1:4: expected a comma or ]"},
		{`{"a":tru}`, "a: 1:6: expected a value"},
		{`{"a":01}`, "a: 1:6: expected a value"},
		{`{"a":1.}`, "a: 1:6: expected a value"},
		{`{"a":-}`, "a: 1:6: expected a value"},
		{`{"a":+1}`, "a: 1:6: expected a value"},
		{`{"a":1e}`, "1:7: expected a comma or }"},
		{`{"a":NaN}`, "a: 1:6: expected a value"},
		{"{\"a\":1 // one\n}", "1:8: comments are not allowed in JSON; only the files of carillon apply may have them"},
		{"// one\n{}", "1:1: comments are not allowed in JSON; only the files of carillon apply may have them"},
		{"/* one */ {}", "1:1: comments are not allowed in JSON; only the files of carillon apply may have them"},
		{"/* one", "1:1: comments are not allowed in JSON; only the files of carillon apply may have them"},
		{"{\n# one\n}", "2:1: comments are not allowed in JSON; only the files of carillon apply may have them"},
		{`{"a":"b`, "a: 1:8: expected a closing quote, but the document ends"},
		{"{\"a\":\"b\nc\"}", "a: 1:8: a control character in a string must be escaped"},
		{"{\"a\":\"\\n\t\"}", "a: 1:9: a control character in a string must be escaped"},
		{`{"a":"\x"}`, `a: 1:8: unknown escape; use \n, \t, \" or \uXXXX`},
		{`{"a":"\u12"}`, `a: 1:7: \u needs four hexadecimal digits`},
		{`{"a":"\ud800"}`, `a: 1:13: \u is half of a surrogate pair`},
		{`{"a":{"é":1,"b":2,"b":3}}`, `a: 1:19: duplicate field "b"`},
		{`{"a":{"x y":[1,{"z":?}]}}`, `a["x y"][1].z: 1:21: expected a value`},
		{strings.Repeat("[", 65), strings.Repeat("[0]", 64) + ": 1:65: nested deeper than 64 levels"},

		{"a: 1\nb: 2\na: 3", `3:1: duplicate field "a"`},
		{"a: b: c", "1:5: mapping values are not allowed in this context"},
		{`"a": "b", // one`, "1:9: did not find expected key while parsing a block mapping that begins at 1:1; if it is JSON, it stands in braces"},
		{"\"a\": {\"b\": \"x\", // one \"c\": \"d\"}", "a: 1:17: a comment of YAML begins with #; comments with // go with JSON, which stands in braces"},
		{"a: 010", "a: 1:4: a number has a leading zero; drop it, or put text in quotes"},
		{"a: [-007]", "a[0]: 1:5: a number has a leading zero; drop it, or put text in quotes"},
		{"a: .inf", "a: 1:4: inf is not supported"},
		{"a: !!str 5", "a: 1:4: tag is not supported"},
		{"1: 2", "1:1: a field name must be text; put it in quotes"},
		{"a: {<<: {b: 1}}", "a: 1:5: a field name must be text; put it in quotes"},
		{"a: &x [*x]", "a[0]: 1:8: no anchor of that name before this alias; put text that begins with * in quotes"},
		{"a: *y", "1:4: no anchor of that name before this alias; put text that begins with * in quotes"},
		{"a: 1\n---\nb: 2", "holds 2 documents; one is expected"},
		{"a: 1\n---\nb: [2,\n", "4:1: did not find expected node content while parsing a flow node"},
		{"a: 1\n...\nb: 2", "holds 2 documents; one is expected"},
		{"a:\n\t- b", "2:1: no value begins like this: tabs do not indent, and text that begins with @, % or ` stands in quotes"},
		{"a: \x01", "1:4: control characters are not allowed (value: 1)"},
		{"a: .NaN", "a: 1:4: nan is not supported"},
		{"a: ! x", "a: 1:4: tag is not supported"},
		{"true: 1", "1:1: a field name must be text; put it in quotes"},
		{"? [a]\n: 1", "1:3: a field name must be text; put it in quotes"},
		{strings.Repeat("--- a\n", 101), "101:1: more than 100 documents"},
		{"a: 1\n---\nb: 2\nb: 3", `4:1: duplicate field "b"`},
		{"- " + strings.Repeat("x", 64<<10), "1:1: a YAML document may be 65536 bytes long"},
		{"{" + strings.Repeat(" ", 4<<20), "is 4194305 bytes long; the most is 4194304"},
	}
	for _, test := range tests {
		_, err := document.Parse([]byte(test.text))
		if _, ok := errors.AsType[document.Problem](err); !ok || err.Error() != test.want {
			t.Errorf("Parse(%.60q): error is %v, want %s", test.text, err, test.want)
		}
	}
}

// Aliases of aliases grow exponentially: 40 lines stand for 2^40 values. They are refused, and at once.
func TestParseBoundsAliases(t *testing.T) {
	var b strings.Builder
	b.WriteString("a: &a [x, x]\n")
	for c := 'b'; c < 'z'; c++ {
		b.WriteString(string(c) + ": &" + string(c) + " [*" + string(c-1) + ", *" + string(c-1) + "]\n")
	}
	_, err := document.Parse([]byte(b.String()))
	if err == nil || !strings.Contains(err.Error(), "aliases stand for more than 10000 values") {
		t.Errorf("error is %v", err)
	}
	if _, err := document.Parse([]byte(strings.Repeat("- ", 1000))); err == nil || !strings.Contains(err.Error(), "nested deeper") {
		t.Errorf("error is %v", err)
	}
}

func TestParseAll(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{`{"a":1}`, []string{`{"a":1}`}},
		{"a: 1\n---\nb: 2\n--- # c\nc: 3\n", []string{`{"a":1}`, `{"b":2}`, `{"c":3}`}},
		{"---\n# only a comment\n---\na: 1\n---\n", []string{`{"a":1}`}},
		{"# head\n%YAML 1.2\n---\na: 1\n...\n---\nb: 2", []string{`{"a":1}`, `{"b":2}`}},
		{"a: |\n  ---\n  x\n---\n- 1\n", []string{`{"a":"---\nx\n"}`, `[1]`}},
		{"--- {a: 1}\n--- [2]\n", []string{`{"a":1}`, `[2]`}},
		{"{\"a\": 1}\n---\n", []string{`{"a":1}`}},
		{"{\"a\": 1}\n---\n{\"a\": 2}\n---", []string{`{"a":1}`, `{"a":2}`}},
		{"a: 1\n---", []string{`{"a":1}`}},
		{"---x: 1\n", []string{`{"---x":1}`}},
	}
	for _, test := range tests {
		values, err := document.ParseAll([]byte(test.text))
		if err != nil || len(values) != len(test.want) {
			t.Errorf("ParseAll(%q) = %v, %v", test.text, values, err)
			continue
		}
		for i, v := range values {
			if v.String() != test.want[i] {
				t.Errorf("ParseAll(%q)[%d] = %s, want %s", test.text, i, v, test.want[i])
			}
		}
	}
}

func TestAliasesAreCopies(t *testing.T) {
	v, err := document.Parse([]byte("a: &x {Type: HTTP}\nb: *x"))
	if err != nil {
		t.Fatal(err)
	}
	r := document.NewReader()
	o := r.Object(v, "")
	a, _ := o.Object("a")
	a.Enum("type", "http")
	if got := v.String(); got != `{"a":{"type":"http"},"b":{"Type":"HTTP"}}` {
		t.Errorf("reading a made the document %s", got)
	}
}
