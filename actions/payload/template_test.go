package payload_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions/payload"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// readTemplate reads a text as a template.
func readTemplate(tb testing.TB, text string) (payload.Content, error) {
	tb.Helper()
	return read(tb, fmt.Sprintf(`{"queueMessage":{"template":true,"message":%s}}`, quote(text)))
}

// quote returns text as a JSON string.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		if r == '"' || r == '\\' || r < ' ' {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}

func TestTemplate(t *testing.T) {
	first := attempt()
	first.Previous, first.Nominal = time.Time{}, first.Nominal.Add(123456789)
	for _, test := range []struct {
		text    string
		attempt scheduler.Attempt
		want    string
	}{
		{"plain }} text { } %", attempt(), "plain }} text { } %"},
		{
			"{{.Occurrence}} {{.Job}} {{.Job.Name}} {{.Job.Collection}} {{.Key}} {{.Attempt}}", failed(),
			"billing/nightly@2026-03-01T09:30:00Z billing/nightly nightly billing billing/nightly@2026-03-01T09:30:00Z/error 3",
		},
		{"{{.Nominal}} {{.Due}} {{.Previous}}", attempt(), "2026-03-01T09:30:00Z 2026-03-01T09:30:30.25Z 2026-02-28T09:30:00Z"},
		{"{{.Nominal}} [{{.Previous}}]", first, "2026-03-01T09:30:00.123456789Z []"},

		// Times.
		{`{{.Nominal.Format "2006-01-02"}} {{.Nominal | date "Mon, 02 Jan 15:04"}} {{date "2006" .Nominal}}`, attempt(), "2026-03-01 Sun, 01 Mar 09:30 2026"},
		{`{{.Nominal.In "Europe/Paris"}} {{(.Nominal.In "Asia/Kathmandu").UTC}}`, attempt(), "2026-03-01T10:30:00+01:00 2026-03-01T09:30:00Z"},
		{`{{.Nominal.Unix}} {{.Nominal.UnixMilli}} {{.Due.UnixMilli}}`, attempt(), "1772357400 1772357400000 1772357430250"},
		{
			`{{.Nominal.Add "-24h"}} {{.Nominal.Add "P1D"}} {{.Nominal.Add "-P1M"}} {{.Nominal.Add "+90m"}}`, attempt(),
			"2026-02-28T09:30:00Z 2026-03-02T09:30:00Z 2026-02-01T09:30:00Z 2026-03-01T11:00:00Z",
		},
		{`{{((.Nominal.Add "P30D").Add "-P1M").Format "01-02"}}`, attempt(), "02-28"}, // 31 March and back a month
		{
			`{{.Nominal.Truncate "1h"}} {{.Nominal.Truncate "24h"}} {{.Nominal.Truncate "P1W"}}`, attempt(),
			"2026-03-01T09:00:00Z 2026-03-01T00:00:00Z 2026-02-23T00:00:00Z",
		},
		{`{{((.Nominal.Add "P28DT6H").In "Europe/Paris").Truncate "24h"}}`, attempt(), "2026-03-29T00:00:00+01:00"}, // the day of the change
		{`{{.Nominal.Year}} {{.Nominal.Month}} {{.Nominal.Day}} {{.Nominal.Hour}} {{.Nominal.Minute}} {{.Nominal.Second}} ` +
			`{{.Nominal.YearDay}} {{.Nominal.Weekday}}`, attempt(), "2026 3 1 9 30 0 60 Sunday"},
		{
			`[{{.Previous.Format "2006"}}{{.Previous.Add "1h"}}{{.Previous.Unix}}{{.Previous.In "Europe/Paris"}}{{.Previous.Truncate "1h"}}` +
				`{{.Previous | date "2006"}}] {{json .Previous.Unix}} {{json .Previous}} {{.Previous | default "never"}}`,
			first, "[] null null never",
		},

		// Conditions and variables.
		{`{{if .Previous}}since {{.Previous}}{{else}}first{{end}}`, first, "first"},
		{`{{if not .Previous}}first{{else if gt .Attempt 1}}again{{else}}once{{end}}`, attempt(), "again"},
		{`{{with .Failure}}{{.Status}} after {{.Attempts}}: {{.Message | trunc 11}}{{else}}fine{{end}}`, failed(), "503 after 2: Http Action"},
		{`{{with .Failure}}{{.Status}}{{else}}fine{{end}} {{.Failure.Status}} {{.Failure}} {{json .Failure}}`, attempt(), "fine 0  null"},
		{`{{with $p := .Previous}}{{$p.Year}} {{$.Attempt}}{{end}}`, attempt(), "2026 2"},
		{`{{$x := "a"}}{{if true}}{{$x = "b"}}{{$x := "c"}}{{$x}}{{end}}{{$x}}`, attempt(), "cb"},
		{"a  {{- /* nothing */ -}}  b", attempt(), "ab"},
		{`{{$x := .Job}}{{if false}}{{$x = .Nominal}}{{$x.Year}}{{end}}{{$x.Name}} {{(.Previous | default .Nominal).Year}}`, attempt(), "nightly 2026"},

		// Functions.
		{`{{json .Job}} {{json "a\"b\\<é\x01"}} {{json 1.5}} {{json true}}`, attempt(), `"billing/nightly" "a\"b\\<é\u0001" 1.5 true`},
		{
			`{{json .Nominal}} {{json .Failure}}`, failed(),
			`"2026-03-01T09:30:00Z" {"status":503,"attempts":2,"message":"Http Action - 'Service\r\n Unavailable' … café"}`,
		},
		{
			`{{upper "grün"}} {{lower "Ä"}} {{replace "/" "-" .Job}} {{"a b&c" | urlquery}} {{base64 "hé"}} {{trim " x\n"}}`, attempt(),
			"GRÜN ä billing-nightly a+b%26c aMOp x",
		},
		{`{{trunc 2 "éèê"}} {{trunc 9 "é"}} {{trunc 0 "é"}}|`, attempt(), "éè é |"},
		{`{{len "é"}} {{print 1 2 "x" .Job}} {{println "a" 1}}`, attempt(), "2 1 2xbilling/nightly a 1\n"},
		{
			`{{printf "%05d|%-4s|%q|%x|%.2f|%t|%v|%s|%%|%c|%6.1e|%g" .Attempt "a" "b" 255 2.0 true .Nominal .Job 0x41 1.5 1e3}}`, attempt(),
			`00002|a   |"b"|ff|2.00|true|2026-03-01T09:30:00Z|billing/nightly|%|A|1.5e+00|1000`,
		},
		{
			`{{eq .Attempt 1 2}} {{eq 2 2.0}} {{ne "a" "b"}} {{lt .Previous .Nominal}} {{ge .Attempt 3}} {{eq .Job "billing/nightly"}} ` +
				`{{le 1.5 1}} {{gt "b" "a"}} {{eq true false}} {{eq .Nominal (.Nominal.In "Asia/Tokyo")}}`, attempt(),
			"true true true true false true false true false true",
		},
		{`{{default 5 .Failure.Status}} {{default "x" "y"}} {{'a'}} {{-3}} {{0x10}} {{1.50}}`, attempt(), "5 y 97 -3 16 1.5"},
	} {
		c, err := readTemplate(t, test.text)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		if got, err := c.Render(test.attempt); err != nil || got.Body != test.want {
			t.Errorf("%s:\n got %q, %v\nwant %q", test.text, got.Body, err, test.want)
		}
	}
}

// TestTemplateProblems has what is refused when a job is put.
func TestTemplateProblems(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"a\nbé {{.Foo}}", "line 2, column 6: the data has no field .Foo; it has .Attempt, .Data, .Due, .Event, .Events, .Failure, .Job, .Key, .Nominal, " +
			".Occurrence, .Previous, .Trigger, .Upstream"},
		{"{{.Job.Id}}", "line 1, column 7: a job has no field .Id; it has .Collection, .Name"},
		{"{{.Failure.Code}}", "line 1, column 11: a failure has no field .Code; it has .Attempts, .Message, .Reason, .Status"},
		{"{{.Nominal.Zone}}", "line 1, column 11: a time has no field or method .Zone; it has .Add, .Day, .Format, .Hour, .In, .Minute, .Month, " +
			".Second, .Truncate, .UTC, .Unix, .UnixMilli, .Weekday, .Year, .YearDay"},
		{"{{.Key.X}}", "line 1, column 7: a text has no field .X"},
		{"{{if false}}x{{else}}{{.Foo.Bar}}{{end}}", "line 1, column 24: the data has no field .Foo"},
		{"{{if .Attempt}}x{{else}}{{with 5}}{{.Bar}}{{end}}{{end}}", "line 1, column 37: a number has no field .Bar"},
		{"{{and 1 (or 2 .Foo)}}", "line 1, column 15: the data has no field .Foo"},
		{`{{if false}}{{$x := .Job}}{{with $y := $x}}{{$y.Name}}{{.Name.Nope}}{{end}}{{end}}`, "line 1, column 62: a text has no field .Nope"},
		{`{{if false}}{{with .Previous}}{{.UTC.Nope}}{{end}}{{end}}`, "line 1, column 37: a time has no field or method .Nope"},
		{`{{if false}}{{(.Nominal | date "2006").Nope}}{{end}}`, "line 1, column 39: a text has no field .Nope"},
		{`{{if false}}{{.Nominal.Year.Nope}}{{end}}`, "line 1, column 28: a number has no field .Nope"},
		{`{{if false}}{{$x := 1}}{{$x = 2}}{{$x.Nope}}{{end}}`, "line 1, column 38: a number has no field .Nope"},
		{`{{if false}}{{.Failure.of}}{{end}}`, "a failure has no field .of"},
		{`{{if false}}{{.Nominal.String}}{{end}}`, "a time has no field or method .String"},
		{`{{if false}}{{range .Job}}{{end}}{{end}}`, "line 1, column 21: {{range}} is not available: a template has no loops"},
		{strings.Repeat("{{trim .Key}}", 65), "line 1, column 835: the template calls functions that make a text more than the allowed 64 times"},
		{"{{or " + strings.Repeat("1 ", 4000) + "}}", "line 1, column 8002: the template has more than the allowed 4000 parts"},
		{`{{getenv "HOME"}}`, `line 1, column 3: function "getenv" not defined; there are base64, date, default, eq, ge, get, gt, json, le, ` +
			`lower, lt, ne, print, printf, println, replace, trim, trunc, upper, urlquery, and, or, not, len`},
		{`{{.Nominal.Formt "2006"}}`, "line 1, column 11: a time has no field or method .Formt; it has .Add, .Day, .Format, "},
		{`{{.Occurrence "2006"}}`, "line 1, column 3: .Occurrence takes no arguments"},
		{`{{while true}}{{end}}`, `line 1, column 3: function "while" not defined; there are no loops`},
		{`{{if .Job}}{{foreach .Job}}x{{end}}{{end}}`, `line 1, column 14: function "foreach" not defined; there are no loops`},
		{"{{call .Job}}", `line 1, column 3: function "call" not defined`},
		{`{{"x" | html}}`, `line 1, column 9: function "html" not defined`},
		{"{{range 1000000000000}}{{end}}", "line 1, column 9: {{range}} is not available: a template has no loops"},
		{"{{range $i := .Job}}{{break}}{{end}}", "{{range}} is not available"},
		{"{{continue}}", "{{continue}} outside {{range}}, which is not available"},
		{`{{define "a"}}{{template "a"}}{{end}}{{template "a"}}`, "line 1, column 49: {{define}}, {{block}} and {{template}} are not available"},
		{`{{block "a" .}}{{end}}`, "line 1, column 9: {{define}}, {{block}} and {{template}} are not available"},
		{`{{define "t"}}x{{end}}`, "line 1, column 15: {{define}}, {{block}} and {{template}} are not available"},
		{"{{.}}", "line 1, column 3: the data as a whole cannot be used: name one of its fields, such as .Occurrence"},
		{"{{$ | json}}", "line 1, column 3: the data as a whole cannot be used"},
		{"{{.Job \"x\"}}", "line 1, column 3: .Job takes no arguments"},
		{"{{5 | 6}}", `line 1, column 7: non executable command in pipeline stage 2`},
		{"{{5 6}}", `line 1, column 3: can't give argument to non-function 5`},
		{"{{(1) 2}}", "line 1, column 3: can't give argument to non-function 1"},
		{"{{1i}}", `line 1, column 3: 1i is not a number that a template can hold`},
		{"{{99999999999999999999}}", `line 1, column 3: integer overflow: "99999999999999999999"`},

		// The parser's errors.
		{"x\n{{ .Job }} {{ .Job @ }}", `line 2, column 20: unexpected "@" in operand`},
		{"{{.Job}} {{.Key}", `line 1, column 12: bad character U+007D '}'`},
		{"{{$x}} {{$y}}", `line 1, column 3: undefined variable "$x"`},
		{`{{print "a" "b}}`, "line 1: unterminated quoted string: an {{end}}, a }} or a quotation mark is missing"},
		{"{{.Job", "line 1: unclosed action: an {{end}}, a }} or a quotation mark is missing"},
		{"{{if .Job}}x", "line 1: unexpected EOF: an {{end}}, a }} or a quotation mark is missing"},
		{"{{end}}", "line 1, column 3: unexpected {{end}}"},
		{"{{}}", "line 1, column 3: missing value for command"},
		{"{{if}}{{end}}", "line 1, column 3: missing value for if"},

		// Functions and their arguments.
		{`{{upper}}`, "line 1, column 3: wrong number of args for upper: want 1 got 0"},
		{`{{upper 1 2}}`, "line 1, column 3: wrong number of args for upper: want 1 got 2"},
		{`{{replace "" "x" "y"}}`, "line 1, column 3: replace: cannot look for an empty text"},
		{`{{trunc "a" 1}}`, `line 1, column 9: expected integer; found "a"`},
		{`{{date .Nominal "2006"}}`, "line 1, column 8: wrong type for value; expected string; got a time"},
		{`{{lt 1 "a"}}`, "line 1, column 3: lt: a number cannot be compared with a text"},
		{`{{lt nil 1}}`, "line 1, column 6: nil is not available: what is not there is an empty text"},
		{`{{and}}`, `line 1, column 3: wrong number of args for and: want at least 1 got 0`},
		{`{{.Nominal.Format "yyyy-MM-dd"}}`, `"yyyy-MM-dd" shows nothing of a time: a layout is the time 2006-01-02T15:04:05Z07:00 in the wanted form`},
		{`{{.Nominal.In "Europe/Pairs"}}`, `"Europe/Pairs" is not a time zone; did you mean "Europe/Paris"?`},
		{`{{.Nominal.In 5}}`, `line 1, column 15: expected string; found 5`},
		{`{{.Nominal.Add}}`, `line 1, column 11: wrong number of args for Add: want 1 got 0`},
		{`{{.Nominal.Add "tomorrow"}}`, `"tomorrow" is not a duration: write 90m, -24h, P1D or -P1M`},
		{`{{.Nominal.Add "--1h"}}`, `"--1h" is not a duration`},
		{`{{.Nominal.Add "-P1000Y" | print}}{{((.Nominal.Add "-P1000Y").Add "-P1000Y").Add "-P1000Y"}}`, `Add: a time must be in the years 1 to 9999, as -0969-11-23 09:48:57 is not`},
		{`{{.Nominal.Truncate "-1h"}}`, `a time cannot be truncated to -1h: the duration must be positive and without months`},
		{`{{printf 5}}`, `line 1, column 10: expected string; found 5`},
		{`{{printf "%d %d" 1}}`, `printf: the verbs of the format do not fit its arguments: 1 %!d(MISSING)`},
		{`{{printf "%d" "x"}}`, `printf: the verbs of the format do not fit its arguments: %!d(string=x)`},
		{`{{printf "%d" .Nominal}}`, `%!d(string=2031-11-23T09:48:57Z)`},
		{`{{printf "%*d" 5 1}}`, `printf: the verbs are %v %s %q %x %d %b %o %c %U %t %f %e %g, with a width and a precision of at most 256`},
		{`{{printf "%[1]d" 5}}`, `printf: the verbs are`},
		{`{{printf "%"}}`, `printf: the verbs are`},
		{`{{printf "%257d" 1}}`, `with a width and a precision of at most 256`},
		{`{{printf "%.999s" "a"}}`, `with a width and a precision of at most 256`},
		{`{{"\xff"}}`, `makes text that is not valid UTF-8`},
		{
			`{{if .Previous.Unix}}{{else}}{{end}}{{lt .Previous.Unix 5}}`,
			"cannot be rendered in a run without an event and without a run before it: line 1, column 39: lt: a time cannot be compared with a number",
		},
	} {
		_, err := readTemplate(t, test.text)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s:\n got %v\nwant %s", test.text, err, test.want)
		}
	}
}

// TestTemplateLogic checks that what "and" and "or" leave out was looked at before.
func TestTemplateLogic(t *testing.T) {
	c := must.Get(readTemplate(t, `{{and .Attempt "" (lt .Attempt 0)}}{{or "" .Job}} {{and 1 2}} {{"x" | or ""}} {{or 1 (printf "%d" 2)}}`))(t)
	if got, err := c.Render(attempt()); err != nil || got.Body != "billing/nightly 2 x 1" {
		t.Errorf("%q, %v", got.Body, err)
	}
}
