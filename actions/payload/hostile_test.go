package payload_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// hostile are templates that would not end, or fill the memory, without bounds.
func hostile() []string {
	const most = 8 << 10
	fill := func(head, part, tail string) string {
		return head + strings.Repeat(part, (most-len(head)-len(tail))/len(part)) + tail
	}
	return []string{
		fill(`{{$x := "aaaaaaaaaaaaaaaa"}}`, `{{$x = print $x $x}}`, ``),
		fill(`{{$x := "aaaaaaaaaaaaaaaa"}}{{$x = print $x $x $x $x $x $x $x $x}}{{$x = print $x $x $x $x $x $x $x $x}}`, `{{$x = upper $x}}`, ``),
		fill(`{{$x := "é"}}`, `{{$x = replace "é" "éé" $x}}`, ``),
		fill(`{{$x := "\u00ff\u1e9e"}}{{$x`, `|upper|lower`, `}}`),
		fill(`{{$x := printf "%256d" 1}}{{`, `json (`, ``) + `$x` + strings.Repeat(")", 100) + `}}`,
		fill(`{{"a"`, `|json`, `}}`),
		fill(`{{"\x00"`, `|json`, `}}`),
		fill(`{{"+"`, `|urlquery`, `}}`),
		fill(`{{"+"`, `|base64`, `}}`),
		fill(`{{printf "`, `%256d`, `" 1}}`),
		fill(`{{printf "%256d`, `%256d`, ``)[:most/2] + `" ` + strings.Repeat("1 ", 800) + `}}`,
		fill(`{{.Nominal`, `.UTC`, `}}`),
		fill(`{{$n := .Nominal}}`, `{{$n = $n.Add "P1Y"}}`, `{{$n}}`),
		fill(`{{$n := .Nominal}}`, `{{$n = $n.In "America/Argentina/ComodRivadavia"}}`, `{{$n}}`),
		fill(``, `{{if 1}}`, ``),
		fill(``, `{{if 1}}{{else}}`, ``),
		strings.Repeat(`{{if 1}}`, 500) + strings.Repeat(`{{end}}`, 500),
		`{{` + strings.Repeat(`(`, 2000) + `1` + strings.Repeat(`)`, 2000) + `}}`,
		fill(`{{and `, `1 `, `}}`),
		fill(`{{$x := "a"}}`+strings.Repeat(`{{$x = print $x $x}}`, 14)+`{{$y := printf "%s" $x}}{{eq ""`, ` $x $y`, `}}`),
		fill(`{{$x := "a"}}`+strings.Repeat(`{{$x = print $x $x}}`, 14)+`{{$y := printf "%s" $x}}`, `{{eq $x $y}}`, ``),
		fill(``, `{{.Nominal}}`, ``),
		fill(`{{$x := printf "%256d" 1}}{{$x = print $x $x $x $x $x $x $x $x}}`, `{{$x}}`, ``),
		fill(`{{$x := printf "%256d" 1}}{{$x = print $x $x $x $x $x $x $x $x}}{{$x = print $x $x $x $x $x $x $x $x}}{{eq $x`, ` $x`, `}}`),
		fill(`{{$x := printf "%256d" 1}}{{$x = print $x $x $x $x $x $x $x $x}}{{$x = replace " " $x $x}}`, `{{/**/}}`, ``),
		`{{.Nominal.Format "` + strings.Repeat("2006", 1000) + `"}}`,
		fill(``, `{{`, ``), fill(``, `{{}}`, ``), fill(``, `{{"`, ``), fill(``, `{{$x}}`, ``), fill(`{{1}}`, `{{@}}`, ``),
		fill(`{{define "a"}}{{template "a"}}{{end}}`, `{{template "a"}}`, ``),
		fill(`{{range 9223372036854775807}}{{range 9223372036854775807}}{{end}}{{end}}`, `{{range 1e18}}{{end}}`, ``),
		`{{1` + strings.Repeat("0", 8000) + `}}`,
		`{{1e` + strings.Repeat("9", 8000) + `}}`,
		`{{printf "%.256f" 1e308}}`,
		most64("İ", `{{$y := upper $x}}`), most64("é", `{{$y := lower $x}}`), most64("a", `{{$y := json $x}}`), most64("+", `{{$y := urlquery $x}}`),
		most64("a", `{{$y := printf "%x" $x}}`), most64("İ", `{{$y := printf "%+q" $x}}`), most64("é", `{{$y := replace "é" "e" $x}}`),
		most64("a", `{{$y := eq $x `+strings.Repeat("$x ", 60)+`}}`), most64("a", `{{$y := .Nominal.In (trunc 9000 $x)}}`),
	}
}

// most64 calls functions as often as it may, on texts that are nearly as long as they may be.
func most64(letter, part string) string {
	head := `{{$x := "` + letter + `"}}` + strings.Repeat(`{{$x = print $x $x}}`, 13-len(letter)/2)
	return head + strings.Repeat(part, 64-strings.Count(head, "print"))
}

// TestHostileTemplates checks what they cost in memory, and reports the time. That they end is FuzzTemplate's test, too.
func TestHostileTemplates(t *testing.T) {
	var worst time.Duration
	var most uint64
	for _, text := range hostile() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var err error
		worst = max(worst, processorOf(func() {
			c, wrong := readTemplate(t, text)
			if wrong == nil {
				_, wrong = c.Render(failed())
			}
			err = wrong
		}))
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		most = max(most, allocated)
		if allocated > 16<<20 || err != nil && len(err.Error()) > 1000 {
			t.Errorf("%.60q: %d bytes allocated, %.80v", text, allocated, err)
		}
	}
	t.Logf("the slowest took %v, the largest allocated %d KiB", worst, most>>10)
}

func FuzzTemplate(f *testing.F) {
	for _, text := range hostile() {
		f.Add(text)
	}
	for _, text := range []string{
		`{{.Nominal.In "Europe/Paris" | date "2006"}}`, `{{with .Failure}}{{.Status}}{{else}}{{$.Job.Name}}{{end}}`,
		`{{printf "%5.1f|%-8q|%U" 1.5 "x" 'y'}}`, `{{.Previous.Add "-P1M" | default "x" | json}}`, `{{trunc 3 (replace "a" "b" .Occurrence)}}`,
		`{{with .Event.Data}}{{.a.b | default $.Event.Attributes.c}}{{end}}{{json .Events}}{{(or .Upstream .Trigger).Key}}`,
		`{{$d := .Event.Data}}{{if gt $d.id 5}}{{$d.customer.name}}{{end}}{{(or $d.a $d.id).b}}`,
		`{{if and .Previous (lt .Previous .Nominal)}}{{/* */}}x{{- end}}`, `{{$x := .Due.Truncate "24h"}}{{$x.Unix}}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 8<<10 {
			return
		}
		text = strings.ToValidUTF8(text, "?")
		took := processorOf(func() { renderAll(t, text) })
		if took > 2*time.Second { // 40 times the bound: of this thread, so what other programs take counts for nothing
			t.Error(strconv.Quote(text), took)
		}
	})
}

// renderAll reads a template and renders it for attempts of all kinds.
func renderAll(t *testing.T, text string) {
	t.Helper()
	c, err := readTemplate(t, text)
	if err != nil {
		if strings.Contains(err.Error(), "runtime error") {
			t.Error(err)
		}
		return
	}
	for _, a := range []scheduler.Attempt{attempt(), failed(), started(t, nil, published(t, 1, order)), {}} {
		if m, err := c.Render(a); err == nil && len(m.Body) > 512<<10 {
			t.Errorf("%d bytes", len(m.Body))
		}
	}
}
