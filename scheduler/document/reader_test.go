package document_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// read parses text and gives it to f as an object. It returns what f reported.
func read(t *testing.T, text string, f func(o *document.Object)) []string {
	t.Helper()
	v, err := document.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r := document.NewReader()
	f(r.Object(v, ""))
	var messages []string
	if problems, ok := errors.AsType[document.Problems](r.Err()); ok {
		for _, p := range problems {
			messages = append(messages, p.Error())
		}
	}
	return messages
}

func TestReaderReportsEverything(t *testing.T) {
	const text = `{
		"text": 1, "number": 1.5, "small": 0, "big": 99999999999999999999, "negative": -6, "truth": "yes",
		"word": "weak", "time": "2024-02-30", "duration": "PT", "list": {}, "inner": [],
		"words": ["Monday", "mon", 3], "numbers": [1, 60, "2"], "map": {"a": "b", "c-d": 1, "e.f": null},
		"objects": [{"day": 1}, 2], "nothing": null, "intervall": 1, "zzz": 1, "Text": 2
	}`
	got := read(t, text, func(o *document.Object) {
		o.String("text")
		o.Int("number", 1, 10)
		o.Int("small", 1, 1000)
		o.Int("big", 1, 1<<62)
		o.Int("negative", -5, 5)
		o.Bool("truth")
		o.Enum("word", "day", "week")
		o.Time("time")
		o.Duration("duration")
		o.Array("list")
		o.Object("inner")
		o.Enums("words", "Monday", "Tuesday")
		o.Ints("numbers", 0, 59)
		o.StringMap("map")
		objects, _ := o.Objects("objects")
		for _, inner := range objects {
			inner.String("day")
			inner.Done()
		}
		o.Require("nothing")
		o.Int("interval", 1, 10)
		o.Require("missing")
		o.Done()
	})
	want := []string{
		`text: must be a string, not a number`,
		`number: must be a whole number, not 1.5`,
		`small: 0 is not in 1-1000`,
		`big: 99999999999999999999 is too large; the most is 4611686018427387904`,
		`negative: -6 is not in -5 to 5`,
		`truth: must be a boolean, not a string`,
		`word: "weak" is not one of day, week; did you mean "week"?`,
		`time: "2024-02-30" is not a date or time: February 2024 has no day 30`,
		`duration: "PT" is not a duration: it ends before a number; write 30s, 1h30m or PT1H30M`,
		`list: must be an array, not an object`,
		`inner: must be an object, not an array`,
		`words[1]: "mon" is not one of Monday, Tuesday; did you mean "Monday"?`,
		`words[2]: must be a string, not a number`,
		`numbers[1]: 60 is not in 0-59`,
		`numbers[2]: must be a whole number, not a string`,
		`map.c-d: must be a string, not a number`,
		`map["e.f"]: must be a string, not null`,
		`objects[1]: must be an object, not a number`,
		`objects[0].day: must be a string, not a number`,
		`nothing: is required`,
		`missing: is required`,
		`intervall: unknown field; did you mean "interval"?`,
		`zzz: unknown field`,
		`Text: repeats "text"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReaderReads(t *testing.T) {
	const text = `{"S":"x","i":-3,"b":true,"E":"wEEk","t":"2024-01-10T13:50:00.5+05:30","d":"00:01:00","a":[1,{}],
		"ss":["x","y"],"n":[3,1],"m":{"K":"v"},"o":{"P":"q"},"null":null}`
	got := read(t, text, func(o *document.Object) {
		s, ok1 := o.String("s")
		i, ok2 := o.Int("i", -5, 5)
		b, ok3 := o.Bool("b")
		e, ok4 := o.Enum("e", "day", "week")
		at, ok5 := o.Time("t")
		d, ok6 := o.Duration("d")
		a, ok7 := o.Array("a")
		ss, ok8 := o.Strings("ss")
		n, ok9 := o.Ints("n", 0, 9)
		m, ok10 := o.StringMap("m")
		inner, ok11 := o.Object("o")
		p, ok12 := inner.String("p")
		inner.Done()
		_, absent := o.String("null")
		if slices.Contains([]bool{ok1, ok2, ok3, ok4, ok5, ok6, ok7, ok8, ok9, ok10, ok11, ok12}, false) || absent {
			t.Error("ok is wrong")
		}
		if o.Has("null") || !o.Null("null") || o.Null("no") || o.Null("s") || !o.Has("S") {
			t.Error("null is absent, and known")
		}
		o.Done()
		got := []any{s, i, b, e, at.Format("2006-01-02T15:04:05.9Z07:00"), d.String(), len(a), ss, n, m, p}
		want := []any{
			"x", int64(-3), true, "week", "2024-01-10T08:20:00.5Z", "PT1M", 2,
			[]string{"x", "y"},
			[]int{3, 1},
			map[string]string{"K": "v"},
			"q",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	if got != nil {
		t.Errorf("problems: %v", got)
	}
}

// What was read is canonical: members and words have the spelling that they were asked for with, values of maps keep
// theirs.
func TestReadingMakesCanonical(t *testing.T) {
	v, err := document.Parse([]byte(`{"FREQUENCY":"WEEK","Schedule":{"weekdays":["MONDAY"]},"Labels":{"X":"Y"}}`))
	if err != nil {
		t.Fatal(err)
	}
	r := document.NewReader()
	o := r.Object(v, "")
	o.Enum("frequency", "week")
	inner, _ := o.Object("schedule")
	inner.Enums("weekDays", "Monday")
	o.StringMap("labels")
	const want = `{"frequency":"week","schedule":{"weekDays":["Monday"]},"labels":{"X":"Y"}}`
	if v.String() != want || r.Err() != nil {
		t.Errorf("got %s, %v; want %s", v, r.Err(), want)
	}
}

func TestObjectOfAnotherKind(t *testing.T) {
	got := read(t, `[1]`, func(o *document.Object) {
		o.Require("a") // says no more: the whole is wrong
		o.String("b")
		o.Done()
	})
	if diff := cmp.Diff([]string{"the document must be an object, not an array"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestSuggestions(t *testing.T) {
	tests := []struct{ name, want string }{
		{"intervall", `intervall: unknown field; did you mean "interval"?`},
		{"itnerval", `itnerval: unknown field; did you mean "interval"?`},
		{"strtTime", `strtTime: unknown field; did you mean "startTime"?`},
		{"start_time", `start_time: unknown field; did you mean "startTime"?`},
		{"start", `start: unknown field; did you mean "startTime"?`},
		{"url", `url: unknown field; did you mean "uri"?`},
		{"x", `x: unknown field`},
		{"somethingElse", `somethingElse: unknown field`},
		{"", `unknown field ""`},
	}
	for _, test := range tests {
		got := read(t, `{"`+test.name+`":1}`, func(o *document.Object) {
			o.Ignore("interval", "startTime", "uri")
			o.Done()
		})
		if diff := cmp.Diff([]string{test.want}, got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// TestSet checks that a member that is set shows in the tree, also below other objects.
func TestSet(t *testing.T) {
	v, err := document.Parse([]byte(`{"a":{"B":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	a, _ := document.NewReader().Object(v, "").Object("a")
	a.Set("b", document.BoolValue(true))
	a.Set("c", document.BoolValue(true))
	if got := v.String(); got != `{"a":{"B":true}}` {
		t.Errorf("got %s", got)
	}
}
