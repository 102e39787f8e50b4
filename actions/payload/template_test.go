package payload_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions/payload"
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

		// Functions.
		{`{{json .Job}} {{json "a\"b\\<é\x01"}} {{json 1.5}} {{json true}} {{json nil}}`, attempt(), `"billing/nightly" "a\"b\\<é\u0001" 1.5 true null`},
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
			`{{printf "%05d|%-4s|%q|%x|%.2f|%t|%v|%s|%%|%c|%6.1e|%g" .Attempt "a" "b" 255 2 true .Nominal .Job 0x41 1.5 1e3}}`, attempt(),
			`00002|a   |"b"|ff|2.00|true|2026-03-01T09:30:00Z|billing/nightly|%|A|1.5e+00|1000`,
		},
		{
			`{{eq .Attempt 1 2}} {{eq 2 2.0}} {{ne "a" "b"}} {{lt .Previous .Nominal}} {{ge .Attempt 3}} {{eq .Job "billing/nightly"}} {{eq nil nil}} ` +
				`{{le 1.5 1}} {{gt "b" "a"}} {{eq true false}} {{eq .Previous.Unix nil}}`, attempt(),
			"true true true true false true true false true false false",
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
		{"a\nbé {{.Foo}}", "line 2, column 6: the data has no field .Foo; it has .Attempt, .Due, .Failure, .Job, .Key, .Nominal, .Occurrence and .Previous"},
		{"{{.Job.Id}}", "line 1, column 7: a job has no field .Id; it has .Collection and .Name"},
		{"{{.Failure.Code}}", "line 1, column 11: a failure has no field .Code; it has .Status, .Attempts and .Message"},
		{"{{.Nominal.Zone}}", "line 1, column 11: a time has no field .Zone; it has .Add, .Day, .Format, .Hour, .In, .Minute, .Month, " +
			".Second, .Truncate, .Unix, .UnixMilli, .UTC, .Weekday, .Year and .YearDay"},
		{"{{.Key.X}}", "line 1, column 7: a text has no field .X"},
		{"{{if false}}x{{else}}{{.Foo.Bar}}{{end}}", "line 1, column 24: the data has no field .Foo"},
		{"{{if .Attempt}}x{{else}}{{with 5}}{{.Bar}}{{end}}{{end}}", "line 1, column 37: a number has no field .Bar"},
		{"{{and 1 (or 2 .Foo)}}", "line 1, column 15: the data has no field .Foo"},
		{`{{getenv "HOME"}}`, `line 1, column 3: there is no function "getenv"; there are base64, date, default, eq, ge, gt, json, le, len, ` +
			`lower, lt, ne, not, print, printf, println, replace, trim, trunc, upper, urlquery, and, or`},
		{"{{call .Job}}", `line 1, column 3: there is no function "call"`},
		{`{{"x" | html}}`, `line 1, column 9: there is no function "html"`},
		{"{{range 1000000000000}}{{end}}", "line 1, column 9: {{range}} is not available: a template has no loops"},
		{"{{range $i := .Job}}{{break}}{{end}}", "{{range}} is not available"},
		{"{{continue}}", "{{continue}} outside {{range}}, which is not available"},
		{`{{define "a"}}{{template "a"}}{{end}}{{template "a"}}`, "line 1, column 49: {{template}}, {{block}} and {{define}} are not available"},
		{`{{block "a" .}}{{end}}`, "line 1, column 9: {{template}}, {{block}} and {{define}} are not available"},
		{"{{.}}", "line 1, column 3: the data as a whole cannot be used: name one of its fields, such as .Occurrence"},
		{"{{$ | json}}", "line 1, column 7: the data as a whole cannot be used"},
		{"{{.Job \"x\"}}", "line 1, column 3: .Job takes no arguments"},
		{"{{5 | 6}}", `line 1, column 8: non executable command in pipeline stage 2`},
		{"{{5 6}}", `line 1, column 3: 5 takes no arguments: it is not a function`},
		{"{{(1) 2}}", `takes no arguments: it is not a function`},
		{"{{1i}}", `line 1, column 3: 1i is not a number that a template can hold`},
		{"{{99999999999999999999}}", `line 1, column 3: integer overflow: "99999999999999999999"`},

		// The parser's errors.
		{"x\n{{ .Job }} {{ .Job @ }}", `line 2, column 20: unexpected "@" in operand`},
		{"{{.Job}} {{.Key}", `line 1, column 16: bad character U+007D '}'`},
		{"{{$x}} {{$y}}", `line 1, column 3: undefined variable "$x"`},
		{`{{print "a" "b}}`, "line 1, column 1: unterminated quoted string"},
		{"{{.Job", "line 1, column 1: unclosed action: }} is missing, or stands inside quotation marks"},
		{"{{if .Job}}x", "the template ends inside {{if}} or {{with}}: {{end}} is missing"},
		{"{{end}}", "line 1, column 1: unexpected {{end}}"},
		{"{{}}", "line 1, column 3: {{}} is empty: a value or a function is missing"},
		{"{{if}}{{end}}", "line 1, column 5: missing value for if"},

		// Functions and their arguments.
		{`{{upper}}`, "line 1, column 3: upper needs one argument"},
		{`{{upper 1 2}}`, "line 1, column 3: upper takes one argument, not 2"},
		{`{{replace "" "x" "y"}}`, "line 1, column 3: replace cannot look for an empty text"},
		{`{{trunc "a" 1}}`, "line 1, column 3: trunc takes a number of characters and a text"},
		{`{{date .Nominal "2006"}}`, "line 1, column 3: date takes a layout and a time, not a text"},
		{`{{lt 1 "a"}}`, "line 1, column 3: a number cannot be compared with a text"},
		{`{{lt nil 1}}`, "line 1, column 3: nothing and a number have no order"},
		{`{{lt true false}}`, "line 1, column 3: true or false and true or false have no order"},
		{`{{and}}`, `line 1, column 3: "and" and "or" need arguments`},
		{`{{.Nominal.Format "yyyy-MM-dd"}}`, `"yyyy-MM-dd" shows nothing of a time: a layout is the time 2006-01-02T15:04:05Z07:00 in the wanted form`},
		{`{{.Nominal.In "Europe/Pairs"}}`, `"Europe/Pairs" is not a time zone; did you mean "Europe/Paris"?`},
		{`{{.Nominal.In 5}}`, `.In takes a text, not a number`},
		{`{{.Nominal.Add}}`, `.Add takes one text, not 0 arguments`},
		{`{{.Nominal.Add "tomorrow"}}`, `"tomorrow" is not a duration: write 90m, -24h, P1D or -P1M`},
		{`{{.Nominal.Add "--1h"}}`, `"--1h" is not a duration`},
		{`{{.Nominal.Add "-P1000Y" | print}}{{((.Nominal.Add "-P1000Y").Add "-P1000Y").Add "-P1000Y"}}`, `0031-11-23T09:48:57Z and -P1000Y is not a time in the years 1 to 9999`},
		{`{{.Nominal.Truncate "-1h"}}`, `a time cannot be truncated to -1h: the duration must be positive and without months`},
		{`{{printf 5}}`, `printf takes a format, not a number`},
		{`{{printf "%d %d" 1}}`, `the format "%d %d" has 2 verbs for 1 arguments`},
		{`{{printf "%d" "x"}}`, `%d cannot print a text`},
		{`{{printf "%*d" 5 1}}`, `printf knows the verbs %v %s %q %x %d %b %o %c %U %t %f %e %g, and not %*`},
		{`{{printf "%[1]d" 5}}`, `and not %[`},
		{`{{printf "%"}}`, `and not %`},
		{`{{printf "%999999999d" 1}}`, `a width or precision in a format is at most 256`},
		{`{{printf "%.999s" "a"}}`, `a width or precision in a format is at most 256`},
		{`{{"\xff"}}`, `makes text that is not valid UTF-8`},
		{
			`{{if .Previous.Unix}}{{else}}{{end}}{{lt .Previous.Unix 5}}`,
			"cannot be rendered at a job's first occurrence, before which nothing ran: line 1, column 39: nothing and a number have no order",
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
	c, err := readTemplate(t, `{{and .Attempt "" (lt .Attempt 0)}}{{or "" .Job}} {{and 1 2}} {{"x" | or ""}} {{or 1 (printf "%d" 2)}}`)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Render(attempt()); err != nil || got.Body != "billing/nightly 2 x 1" {
		t.Errorf("%q, %v", got.Body, err)
	}
}
