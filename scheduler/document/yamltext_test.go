package document

import (
	"regexp"
	"testing"
	"unicode/utf8"
)

// TestYAMLText writes values as people would.
func TestYAMLText(t *testing.T) {
	for json, want := range map[string]string{
		`{"a": "x", "b": [1, 2.50, "monday"], "c": {"d": true, "e": null}, "f": {}, "g": []}`: "a: x\nb: [1, 2.50, monday]\nc:\n  d: true\n  e: null\nf: {}\ng: []\n",
		`{"list": [{"a": 1, "b": {"c": 2}}, [["x y"]], "two words", {}]}`:                     "list:\n  - a: 1\n    b:\n      c: 2\n  - - - x y\n  - two words\n  - {}\n",
		`{"body": "{\n  \"a\": 1\n}\n", "end": "one\n\ntwo"}`:                                 "body: |\n  {\n    \"a\": 1\n  }\nend: |-\n  one\n\n  two\n",
		`{"uri": "http://x.example/a?b=c#d", "cron": "0 9 * * 1-5", "time": "2026-01-01T00:00:00Z", "yes": "no", "n": "1", "e": "", "t": "a: b", "h": "a #b", "s": "$${CARILLON_X}/y", "q": "say \"x\"", "dots": "Every two hours."}`: "uri: http://x.example/a?b=c#d\ncron: \"0 9 * * 1-5\"\ntime: \"2026-01-01T00:00:00Z\"\n\"yes\": \"no\"\n\"n\": \"1\"\ne: \"\"\nt: \"a: b\"\nh: \"a #b\"\ns: $${CARILLON_X}/y\nq: \"say \\\"x\\\"\"\ndots: Every two hours.\n",
		`"x"`:  "x\n",
		`[]`:   "[]\n",
		`[[]]`: "- []\n",
	} {
		v, err := Parse([]byte(json))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(v.YAML()); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", json, got, want)
		}
	}
}

// TestYAMLTextHasNoSecrets leaves them out.
func TestYAMLTextHasNoSecrets(t *testing.T) {
	secret := Value{kind: KindString, secret: true, text: "s3cret"}
	v := ObjectValue(Member{"a", ObjectValue(Member{"password", secret})}, Member{"token", secret}, Member{"list", ArrayValue(secret)})
	if got, want := string(v.YAML()), "a: {}\nlist:\n  - null\n"; got != want {
		t.Errorf("got %s", got)
	}
}

// FuzzYAMLText reads back what was written.
func FuzzYAMLText(f *testing.F) {
	for _, text := range []string{
		`{"a": {"b": [1, "x", null, true, [], {}, [[]], {"c": "d"}]}}`, `{"a": "x\ny\n", "b": "\n", "c": " x\n y", "d": "x\n\n", "e": "x\r\ny"}`,
		`{"~": "~", "-": "- a", "? x": "? y", "a:b": "*c", "!d": "&e", "%f": "@g", "` + "`" + `": "|", ">": "<<"}`,
		`{"a": "---", "b": "...", "c": "--- x\n--- y", "1": "0x1f", "é": "\u0000\u0085\u2028\ufeff", "null": ".nan", "t": "x\ty\n\tz"}`,
		`["1e3", 1e3, -0, 1.0, "0o7", "2026-01-01", "12:30:45", "+1"]`, `"a"`, `12`, `null`, `{"<<": {"a": 1}}`, `{"a": "$x\n#y\n"}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		values, err := alone(parseJSON(&jsonParser{text: text}))
		if err != nil || len(values) != 1 || len(text) > 4<<10 || !utf8.ValidString(text) {
			t.Skip()
		}
		if regexp.MustCompile(`[eE][+-]?\d{3}`).MatchString(text) {
			t.Skip() // which no computer has
		}
		v := values[0]
		got, err := ParseAll(v.YAML())
		if v.kind == KindNull {
			return // which is no document
		}
		if err != nil || len(got) != 1 || !got[0].Equal(withFractions(v)) {
			t.Errorf("%s\n%s: got %v, %v", text, v.YAML(), got, err)
		}
	})
}

// withFractions is a value with its numbers as they are written.
func withFractions(v Value) Value {
	if v.kind == KindNumber {
		return NumberValue(yamlNumber(v.text))
	}
	v, _ = v.each("", func(_ string, inner Value) (Value, error) { return withFractions(inner), nil })
	return v
}

// TestYAMLTextHasNoControls escapes what a terminal would obey.
func TestYAMLTextHasNoControls(t *testing.T) {
	v := ObjectValue(Member{"a", StringValue("\x1b[2J\u009b2J\x7f\u202e é\n")})
	const want = `a: "\u001b[2J\u009b2J\u007f\u202e é\n"` + "\n"
	if got := string(v.YAML()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if back, err := ParseAll([]byte(want)); err != nil || !back[0].Equal(v) {
		t.Errorf("read back %v, %v", back, err)
	}
}
