package payload_test

import (
	"strings"
	"testing"
	"text/template"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestTextTemplate compares templates with what package text/template makes of them.
func TestTextTemplate(t *testing.T) {
	a := failed()
	data := struct {
		Occurrence, Key string
		Attempt         int
		Job             scheduler.Key
		Failure         scheduler.Failure
	}{a.Occurrence, a.Key, a.Try, a.Job, *a.Failure}
	for _, text := range []string{
		"", "x", "{{1}}{{1.0}}{{1e3}}{{0x1F}}{{'x'}}{{-0.5}}{{true}}{{\"a\\n\"}}{{`b`}}", "{{.Attempt}} {{.Job}} {{.Failure.Status}}",
		"{{if .Attempt}}a{{else}}b{{end}}{{if 0}}a{{else if \"\"}}b{{else}}c{{end}}",
		"{{with .Job.Collection}}{{.}}{{$.Attempt}}{{end}}{{with \"\"}}x{{else}}{{.Attempt}}{{end}}{{with \"\"}}x{{else with 5}}{{.}}{{end}}",
		"{{$x := 1}}{{$y := $x}}{{if true}}{{$x = 2}}{{$y := 3}}{{$x}}{{$y}}{{end}}{{$x}}{{$y}}",
		"{{if $x := .Attempt}}{{$x}}{{end}}{{with $x := .Job}}{{$x.Collection}}{{end}}",
		"a {{- 1 -}} b {{/* c */ -}} d", "{{(1)}}{{(.Job).Collection}}{{(print 1 2)}}{{(print (print 1) 2) | len}}",
		"{{and 1 0 2}}{{or 0 \"\" 3}}{{not 0}}{{and 1 2}}{{or 0 0}}{{1 | and 2}}{{0 | or 5}}",
		"{{eq 1 1}}{{eq 1 2 3 1}}{{ne 1 2}}{{lt 1 2}}{{le 2 2}}{{gt 1.5 2.5}}{{ge \"b\" \"a\"}}{{eq \"a\" \"b\"}}{{eq true true}}",
		"{{print}}{{print 1}}{{print 1 2}}{{print \"a\" \"b\"}}{{print \"a\" 1 2 \"b\"}}{{println 1 \"a\"}}{{print true 1.5}}",
		"{{printf \"%d|%5d|%-5d|%05d|%+d|%x|%X|%o|%b|%c|%U|%q\" 1 2 3 4 5 255 255 8 5 65 65 65}}",
		"{{printf \"%s|%10s|%-10s|%.2s|%q|%x|% x|%v\" \"a\" \"b\" \"c\" \"def\" \"g\\\"\" \"hi\" \"hi\" \"z\"}}",
		"{{printf \"%f|%.2f|%8.3f|%e|%g|%v|%t|%5t|%%\" 1.5 1.555 2.5 1e10 1e21 0.1 true false}}",
		"{{.Occurrence | printf \"%s-%s\" .Key}}{{\"x y&\" | urlquery}}{{len .Occurrence}}",
		"{{with .Failure}}{{.Message | printf \"%.4s\"}}{{end}}", "{{\"a\" | print 1 | print 2 | len}}",
	} {
		var want strings.Builder
		if err := template.Must(template.New("").Parse(text)).Execute(&want, data); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		c, err := readTemplate(t, text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := c.Render(a); err != nil || got.Body != want.String() {
			t.Errorf("%s:\n got %q, %v\nwant %q", text, got.Body, err, want.String())
		}
	}
}
