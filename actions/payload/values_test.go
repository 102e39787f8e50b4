package payload_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/actions/payload"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// readGiven reads a text as a template, in a job and an action with data of their own.
func readGiven(tb testing.TB, job, action, text string) (payload.Content, *document.Reader, error) {
	tb.Helper()
	v := must.Get(document.Parse(fmt.Appendf(nil, `{"data":%s,"queueMessage":{"template":true,"message":%s}}`, action, quote(text))))(tb)
	r := document.NewReader()
	r.Data = must.Get(document.Parse([]byte(job)))(tb)
	o := r.Object(v, "action")
	inner, ok := o.Object("queueMessage")
	if !ok {
		tb.Fatal("no queueMessage")
	}
	c := payload.Read(o, inner, rules)
	inner.Done()
	o.Done()
	err := r.Err()
	return c, r, err
}

// TestData fills in what the job gives, and else what stands beside the template.
func TestData(t *testing.T) {
	const job = `{"region": "us", "site": {"name": "a\"b", "ports": [1, "x", null], "on": true}, "big": 12345678901234567890,
		"half": 0.5, "none": null, "huge": 1e400, "n": 7}`
	const action = `{"region": "eu", "size": "small", "site": {"name": "other", "lost": 1}}`
	for text, want := range map[string]string{
		"{{.Data.region}} {{.Data.size}}":                           "us small",
		"{{.Data.site.name}} {{json .Data.site.name}}":              `a"b "a\"b"`,
		"{{.Data.site}}":                                            `{"name":"a\"b","on":true,"ports":[1,"x",null]}`,
		"{{json .Data.site.ports}} {{.Data.site.ports}}":            `[1,"x",null] [1,"x",null]`,
		"{{.Data.big}} {{json .Data.big}} {{.Data.half}}":           "12345678901234567890 12345678901234567890 0.5",
		"{{json .Data.huge}}[{{.Data.none}}]{{json .Data.none}}":    "1e400[]null",
		`{{default "x" .Data.none}} {{if .Data.site.on}}y{{end}}`:   "x y",
		"{{with .Data.site}}{{.name}}{{end}}":                       `a"b`,
		"{{$d := .Data}}{{$d.region}} {{lt .Data.n 8}}":             "us true",
		`{{eq .Data.region "us"}} {{len .Data.site.ports}}`:         "true 3",
		`{{printf "%s %d" .Data.region .Data.n}} {{print .Data.n}}`: "us 7 7",
	} {
		c, _, err := readGiven(t, job, action, text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := c.Render(attempt()); err != nil || got.Body != want {
			t.Errorf("%s:\n got %q, %v\nwant %q", text, got.Body, err, want)
		}
	}
}

// TestDataIsChecked refuses what is not there, also behind a condition.
func TestDataIsChecked(t *testing.T) {
	const job = `{"region": "us", "site": {"name": "a"}, "String": 1}`
	for text, want := range map[string]string{
		"a\n{{.Data.regoin}}":                      "line 2, column 8: .Data has no member .regoin; it has .String, .region, .site, .size",
		"{{if .Failure.Status}}{{.Data.x}}{{end}}": "line 1, column 30: .Data has no member .x",
		"{{.Data.site.nam}}":                       "line 1, column 13: .Data.site has no member .nam; it has .name",
		"{{.Data.region.name}}":                    "line 1, column 15: a text has no field .name",
		"{{.Data.String}}":                         "a template cannot use a member of this name: .String",
		"{{$d := .Data}}{{$d.x}}":                  ".Data has no member .x",
		"{{with .Data.site}}{{.nam}}{{end}}":       `map has no entry for key "nam"`,
		"{{eq .Data.site .Data.site}}":             "an object cannot be compared",
		"{{range .Data.site}}{{end}}":              "{{range}} is not available",
		"{{.Data \"x\"}}":                          ".Data takes no arguments",
		"{{.data.region}}":                         "the data has no field .data",
	} {
		_, _, err := readGiven(t, job, `{"size": 1}`, text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n got %v\nwant %s", text, err, want)
		}
	}
	_, _, err := readGiven(t, "{}", "{}", "{{.Data.x}}")
	if err == nil || !strings.Contains(err.Error(), `.Data has no member .x: give it one in "data" of the job or next to the template, or declare it in the job's "input"`) {
		t.Error(err)
	}
	_, err = read(t, `{"data": {"a": 1}, "queueMessage": {"message": "{{.Data.a}}"}}`)
	if err == nil || !strings.Contains(err.Error(), "action.data: goes with template: true only") {
		t.Error(err)
	}
	_, err = read(t, `{"data": [1], "queueMessage": {"template": true, "message": "x"}}`)
	if err == nil || !strings.Contains(err.Error(), "action.data: must be an object, not an array") {
		t.Error(err)
	}
}

// TestUsedData tells which members a template uses.
func TestUsedData(t *testing.T) {
	for text, want := range map[string]string{
		"x": "", "{{.Data.region}}": "region", "{{if .Attempt}}{{.Data.site.name}}{{end}}{{.Data.region}}": "region site",
		"{{json .Data}}": "*", "{{with .Data}}{{end}}": "*", "{{$d := .Data}}": "*",
	} {
		_, r, err := readGiven(t, `{"region": "us", "site": {"name": "a"}}`, "{}", text)
		if got := strings.Join(r.UsedData(), " "); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestFailureFields(t *testing.T) {
	if got := payload.FailureFields(attempt()); got != nil {
		t.Errorf("of a main action: %v", got)
	}
	for _, test := range []struct{ message, want string }{
		{"", ""},
		{"  a \r\n\t b\x00\u0085\u00a0c\x7f ", "a b c"},
		{"“Grüße” – it’s…", `"Gr??e" - it's...`},
		{"\U0001F600 \xff", "? ?"},
		{strings.Repeat("x", 1024), strings.Repeat("x", 1024)},
		{strings.Repeat("x", 1025), strings.Repeat("x", 1021) + "..."},
		{strings.Repeat("x", 1020) + "  yyyyyyy", strings.Repeat("x", 1020) + "..."},
	} {
		a := failed()
		a.Failure = &scheduler.Failure{Attempts: 5, Message: test.message}
		want := []payload.Field{
			{"x-carillon-failed-status", "0"},
			{"x-carillon-failed-attempts", "5"},
			{"x-carillon-failed-message", test.want},
		}
		if diff := cmp.Diff(want, payload.FailureFields(a)); diff != "" {
			t.Errorf("%.40q: %s", test.message, diff)
		}
	}
}

// TestReason renders the short reason of a failure, without the response.
func TestReason(t *testing.T) {
	c := must.Get(readTemplate(t, "{{json .Failure.Reason}}"))(t)
	for message, want := range map[string]string{
		"Http Action - it is \"away\"": `"it is \"away\""`,
		"Http Action - Response from host 'x': 'Bad Gateway' Response Headers: A: b\r\n Body: {}": `"Response from host 'x': 'Bad Gateway'"`,
		"the action panicked": `"the action panicked"`,
	} {
		a := failed()
		a.Failure = &scheduler.Failure{Message: message}
		if m, err := c.Render(a); err != nil || m.Body != want {
			t.Errorf("%q, %v", m.Body, err)
		}
	}
}
