package edit_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
)

// TestYAML changes a job as text, and shows problems at their lines.
func TestYAML(t *testing.T) {
	w := consoletest.Shared(t)
	w.Put("default/a", guarded)
	p := open(t, w, "default/a", "yaml", storedSecrets...)
	text := p.form.Get("text")
	w.Has(text, "# action.request.authentication.password is stored")
	p.set("text", "# mine\r\n"+text+"timeout: 3 weeks\r\ncolour: red\r\n")
	p.gets(http.StatusBadRequest, "review")
	lines := strings.Split(strings.ReplaceAll(p.form.Get("text"), "\r", ""), "\n")
	for i, line := range lines {
		bad := strings.HasPrefix(line, "timeout") || strings.HasPrefix(line, "colour")
		marked := strings.Contains(p.body, `id="line-`+itoa(i+1)+`" class="bad"`)
		if bad != marked {
			t.Errorf("line %d, %q: marked is %v", i+1, line, marked)
		}
	}
	p.has("# mine", "timeout: 3 weeks", `href="#line-`)
	p.set("text", "# mine\r\n"+text+"timeout: PT3M\r\n")
	p.save()
	now := job(t, w, "default/a")
	if !strings.Contains(now.String(), `"timeout":"PT3M"`) || secret(now, "action.request.authentication.password") != "stored-password" {
		t.Error(now)
	}
}

// TestJSON takes JSON, with an envelope too, and syntax errors with their lines.
func TestJSON(t *testing.T) {
	w := consoletest.Shared(t)
	w.Put("default/a", simple)
	p := open(t, w, "default/a", "yaml")
	p.set("text", "{\n  \"name\": \"a\",\n  \"properties\": {\"recurrence\": {\"frequency\": \"day\"},\n  \"timeout\": \"soon\",\n"+
		`  "action": {"type": "Http", "request": {"method": "GET", "uri": "http://x.example/"}}}}`)
	p.press("review")
	p.has(`id="line-4" class="bad"`)
	p.set("text", strings.Replace(p.form.Get("text"), "soon", "PT5S", 1))
	p.save()
	p = open(t, w, "default/a", "yaml")
	p.set("text", "{\n\"action\": }")
	p.gets(http.StatusBadRequest, "review")
	p.has(`id="line-2" class="bad"`)
	p.set("text", "name: other\naction: {}\n").press("review")
	p.has(`You cannot rename a job (default/a)`)
	for _, odd := range []string{"", "a\n---\nb", "[]", "text", "--- {}\n---\n{}\n"} {
		p.set("text", odd).gets(http.StatusBadRequest, "review")
	}
}

// TestTypedSecretsInText types secrets into the text, right and wrong: they are stored, and no page has them. TestRedact has
// the forms of such texts.
func TestTypedSecretsInText(t *testing.T) {
	w := consoletest.Shared(t)
	w.Put("default/a", simple)
	const typed = "typed-secret-4711"
	text := "recurrence: {frequency: day}\naction:\n  type: https\n  request:\n    method: GET\n    uri: https://x.example/\n" +
		"    authentication:\n      type: Basic\n      username: me\n      password: " + typed + "\n"
	p := open(t, w, "default/a", "yaml", typed)
	for _, rest := range []string{"timeout: wrong\n", "timeout: [\n", ""} {
		p.set("text", text+rest).press("review")
		w.Has(p.form.Get("text"), "https://x.example/")
	}
	p.has("the secret that you typed is set here", "data-redacted")
	if got := p.press("save"); got == http.StatusSeeOther {
		t.Error("it is saved without the secret")
	}
	p.set("text", text).press("review")
	p.set("text", text).gets(http.StatusSeeOther, "save")
	if now := job(t, w, "default/a"); secret(now, "action.request.authentication.password") != typed {
		t.Error("the secret is not stored")
	}
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

// TestTooLong refuses texts that are more than any job, before anything is made of them, and keeps their secrets off the page.
func TestTooLong(t *testing.T) {
	w := consoletest.Shared(t)
	w.Put("default/a", simple)
	long := "password: typed-password\n" + strings.Repeat("# more\n", 10_000)
	p := open(t, w, "default/a", "yaml")
	p.set("text", long)
	p.gets(http.StatusBadRequest, "review")
	p.has("The text is too long: at most 65.5 kB")
	w.Has(p.body, "!typed-password")
	for _, name := range []string{"base", "from", "stored"} {
		p := open(t, w, "default/a", "yaml")
		p.set(name, `{"a": "`+strings.Repeat("x", 70_000)+`"}`)
		p.gets(http.StatusBadRequest, "review")
	}
	p = open(t, w, "default/a", "yaml")
	p.set("text", strings.Repeat("x", 300_000))
	p.gets(http.StatusRequestEntityTooLarge, "review")
}
