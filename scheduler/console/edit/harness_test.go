package edit_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// page is the page of a job in a browser without scripts.
type page struct {
	t    *testing.T
	w    *consoletest.Harness
	path string
	body string
	form url.Values

	secrets []string // that no answer may have
}

// open opens the page of a job.
func open(t *testing.T, w *consoletest.Harness, key, as string, secrets ...string) *page {
	t.Helper()
	k := consoletest.Key(key)
	p := &page{t: t, w: w, path: "/console/jobs/" + k.Collection + "/" + k.Job + "/edit", secrets: secrets}
	p.take(w.Get(p.path + "?as=" + as))
	return p
}

// take looks at an answer.
func (p *page) take(body string) {
	p.t.Helper()
	p.body = body
	for _, s := range p.secrets {
		if strings.Contains(body, s) {
			p.t.Fatalf("a secret, %s, is in a page", s)
		}
	}
	for _, f := range consoletest.Forms(p.t, body) {
		if f.Action == p.path {
			p.form = f.Values
		}
	}
}

// press sends the form with a button, and returns the status.
func (p *page) press(button string) int {
	p.t.Helper()
	values := maps.Clone(p.form)
	values.Set("do", button)
	r := p.w.Post(p.path, values)
	if r.Status != http.StatusSeeOther {
		p.take(r.Body)
	}
	return r.Status
}

// gets sends the form with a button, and checks the status.
func (p *page) gets(status int, button string) {
	p.t.Helper()
	if got := p.press(button); got != status {
		p.t.Fatalf("%s: %d, want %d\n%.4000s", button, got, status, mainOf(p.body))
	}
}

// set types into fields, which are given with what is typed: name, value, and so on.
func (p *page) set(pairs ...string) *page {
	p.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !p.form.Has(pairs[i]) && !strings.HasPrefix(pairs[i], "choice:") {
			p.t.Fatalf("there is no field %s; there are %v", pairs[i], slices.Sorted(maps.Keys(p.form)))
		}
		p.form.Set(pairs[i], pairs[i+1])
	}
	return p
}

// has checks that the page has texts.
func (p *page) has(texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		if !strings.Contains(p.body, text) {
			p.t.Errorf("the page has no %q:\n%.2500s", text, mainOf(p.body))
		}
	}
}

// mainOf is a page without what all have, and without its fields.
func mainOf(body string) string {
	_, body, _ = strings.Cut(body, `<div id="edit-told"`)
	told, rest, _ := strings.Cut(body, `<input type="hidden" name="as"`)
	_, rest, _ = strings.Cut(rest, `name="reviewed"`)
	rest, _, _ = strings.Cut(rest, `<fieldset class="jobform-section"`)
	return told + rest
}

// save reviews the change and saves it.
func (p *page) save() {
	p.t.Helper()
	p.gets(http.StatusOK, "review")
	p.gets(http.StatusSeeOther, "save")
}

// job returns a job's properties with its secrets as they are stored.
func job(t *testing.T, w *consoletest.Harness, key string) document.Value {
	t.Helper()
	v := w.Job(key)
	return v.Job.Def.Document()
}

// secret is what is stored at a path, for a test alone.
func secret(v document.Value, path string) string {
	for name := range strings.SplitSeq(path, ".") {
		v, _ = v.Member(name)
	}
	return v.Text()
}

// patch has somebody else change a job.
func patch(t *testing.T, w *consoletest.Harness, key, text string) {
	t.Helper()
	w.OK(w.Service.Patch(t.Context(), control.Edit{Key: consoletest.Key(key), Body: []byte(text)}))
}
