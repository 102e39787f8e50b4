package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/suite/console/tab"
)

// script is what must be shown as it is, and do nothing.
const script = `<script>document.title = "taken"</script><img src=x onerror="document.title='taken'">`

// TestHostile has a target answer with markup, and with far more than is kept, and shows it: as it is, in the page of the job,
// in the tail of all attempts and in the overview, at every width.
func TestHostile(t *testing.T) {
	s := own(t)
	answers := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusInternalServerError)
		if r.URL.Path == "/long" {
			_, _ = w.Write([]byte(script + strings.Repeat("Ä", 8192)))
			return
		}
		_, _ = w.Write([]byte(script + "\u202eright to left\u202c مرحبا بالعالم</pre></bdi></main>"))
	}))
	t.Cleanup(answers.Close)
	longest := "L" + strings.Repeat("o", 98) + "g"
	for name, path := range map[string]string{longest: "/long", "markup": "/?" + "%3Cscript%3E"} {
		must(t, s.Put(t.Context(), "default", name, map[string]any{
			"description": script, "labels": map[string]any{"html": "<b>bold</b>", "rtl": "\u202eשלום"},
			"action": map[string]any{
				"type":        "http",
				"request":     map[string]any{"method": "POST", "uri": answers.URL + path, "body": script},
				"retryPolicy": map[string]any{"retryType": "none"},
			},
		}))
	}
	for _, look := range []tab.Look{tab.Looks[0], tab.Looks[2]} {
		page := open(t, s.HTTP, look)
		for _, name := range []string{"markup", longest} {
			must(t, page.Go("/console/jobs/default/"+name), page.Text("main", script), page.Text("#job-history", "faulted"))
			must(t, page.Await("document.querySelector('#job-history details').open = true"), page.Text("#job-history details", `<script>document.title = "taken"</script>`))
			sound(t, page, name)
			wide(t, page, look, name)
		}
		for _, path := range []string{"/", "/console/jobs", "/console/live", "/console/jobs/default/" + longest + "/edit", "/console/calendar"} {
			must(t, page.Go(path), page.Await("document.querySelector('main').innerText.length > 100"))
			sound(t, page, path)
			wide(t, page, look, path)
		}
		must(t, page.Go("/console/live"), page.Text("#attempts", "markup"), page.Text("#attempts", longest))
		must(t, page.Go("/console/jobs?q=markup"), page.Text("#found", "<b>bold</b>"))
		wide(t, page, look, "the jobs")
	}
}
