package document_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// TestParseFileTakesComments shows JSON as people write it into files, and what is refused there too.
func TestParseFileTakesComments(t *testing.T) {
	for text, want := range map[string]string{
		"// a job\n{\"a\": 1, // one\n/* two */ \"b\": [1, 2,], /**/ \"c\": {\"d\": \"// no /* comment\",},}\n// end": `{"a":1,"b":[1,2],"c":{"d":"// no /* comment"}}`,
		"/* a */ [ ]":               `[]`,
		"{ // nothing\n}":           `{}`,
		"# YAML\na: 1 // not one\n": `{"a":"1 // not one"}`,
		"{,}":                       `1:2: expected a field name in double quotes`,
		"[1,,]":                     `[1]: 1:4: expected a value`,
		"{\"a\": /* one":            `a: 1:7: the comment has no end: */`,
		"{\"a\": 1 # one\n}":        `1:9: expected a comma or }; comments of JSON are // and /* */`,
		"{\"a\": 1 / 2}":            `1:9: expected a comma or }`,
	} {
		f, err := document.ParseFile([]byte(text))
		got := fmt.Sprint(err)
		if err == nil {
			got = f.Documents[0].String()
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

// TestPlaces shows where the values of a file are found: a scalar where it begins, an object or array at its name, what
// is not there at what is around it.
func TestPlaces(t *testing.T) {
	const json = "// a job\n{\n  \"Action\": {\"type\": \"http\"},\n  \"é\": 1, \"list\": [1,\n    {\"x.y\": true}],\n  \"empty\": {}\n}\n"
	const yaml = "# jobs\nAction:\n  type: http\nlist:\n- 1\n- \"x.y\": true\ntext: |\n  a\nquoted: 'x'\nnothing:\nflow: {a: [1, 2]}\n" +
		"---\n# second\nname: &n two\nother: *n\nmap: {<: 1}\n"
	for _, test := range []struct {
		text     string
		document int
		want     map[string]string
	}{
		{json, 0, map[string]string{
			"": "2:1", "action": "3:3", "action.type": "3:22", "action.request.uri": "3:3", "é": "4:8", "list": "4:11", "list[0]": "4:20",
			"list[1]": "5:5", `list[1]["x.y"]`: "5:13", "list[7]": "4:11", "empty": "6:3", "missing": "2:1",
		}},
		{yaml, 0, map[string]string{
			"": "2:1", "action": "2:1", "action.type": "3:9", "action.request.uri": "2:1", "list": "4:1", "list[0]": "5:3",
			`list[1]["x.y"]`: "6:10", "text": "7:7", "quoted": "9:9", "nothing": "10:1", "flow.a[1]": "11:15", "missing": "2:1",
		}},
		{yaml, 1, map[string]string{"name": "14:7", "other": "15:8", "map": "16:1", "missing": "14:1"}},
	} {
		f, err := document.ParseFile([]byte(test.text))
		if err != nil {
			t.Fatal(err)
		}
		for path, want := range test.want {
			if line, column := f.Place(test.document, path); fmt.Sprintf("%d:%d", line, column) != want {
				t.Errorf("document %d, %q: %d:%d, not %s", test.document, path, line, column, want)
			}
		}
	}
}

// TestPlacesOfLongLine checks that places are found in a text of one line, which costs one walk and no more.
func TestPlacesOfLongLine(t *testing.T) {
	text := "[" + strings.Repeat(`{"ä":0},`, 100_000) + `{"b":1}]`
	f, err := document.ParseFile([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if line, column := f.Place(0, "[100000].b"); line != 1 || column != 8*100_000+7 {
		t.Errorf("%d:%d", line, column)
	}
}

// TestPlacesBelowLongName notes no paths that are as long as a name that is nobody's: each would be as long as that.
func TestPlacesBelowLongName(t *testing.T) {
	name := strings.Repeat("n", 100_000)
	f, err := document.ParseFile([]byte(`{"` + name + `":[` + strings.Repeat("\n1,", 4000) + `1]}`))
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	line, column := f.Place(0, name+"[3000]")
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; line != 1 || column != 2 || used > 100<<20 {
		t.Errorf("%d:%d with %d bytes", line, column, used)
	}
}

func FuzzPlaces(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":2}]}`, "a: [1]\n---\nb: {c: d}", "// x\n{\"a\":1,}", "- &a {b: 1}\n- *a", "\r0"} {
		f.Add(seed, "a.b")
	}
	f.Fuzz(func(t *testing.T, text, path string) {
		file, err := document.ParseFile([]byte(text))
		if err != nil {
			return
		}
		lines := strings.Count(text, "\n") + strings.Count(text, "\r") + 1 // YAML breaks a line at either
		for i := range len(file.Documents) + 1 {
			if line, column := file.Place(i, path); line < 1 || line > lines || column < 1 {
				t.Fatalf("%q of %q: %d:%d", path, text, line, column)
			}
		}
	})
}
