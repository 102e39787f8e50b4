package load_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/forecast"
)

// newHarness has a herd of each day at nine in two collections, and what runs all the time.
func newHarness(t *testing.T, herd int) *consoletest.Harness {
	t.Helper()
	w := consoletest.New(t)
	w.Collect("other")
	for i := range herd {
		collection := []string{"default", "other"}[i%2]
		w.Put(fmt.Sprintf("%s/herd-%d", collection, i), `{"recurrence": {"cron": "0 9 * * *"}, `+action("https://target.example/"))
	}
	w.Put("default/often", `{"startTime": "2026-01-01T00:00:00Z", "recurrence": {"frequency": "second"}, `+action("http://often.example/"))
	return w
}

func action(target string) string {
	return `"action": {"type": "http", "request": {"uri": "` + target + `", "method": "GET"}}}`
}

func foreseen(t *testing.T, w *consoletest.Harness) *forecast.Report {
	t.Helper()
	return must.Get(w.Service.Forecast(t.Context(), control.ForecastQuery{Hours: 24, Proposals: 100}))(t)
}

var (
	hourRow  = regexp.MustCompile(`<tr><th scope="row">([^<]*)</th><td class="number">([^<]*)</td><td class="number">([^<]*)</td>`)
	cell     = regexp.MustCompile(`<rect class="heat\d" x="\d+" y="\d+" width="(\d+)" height="15"><title>[^<]*: (one|[^ ]+) runs?`)
	box      = regexp.MustCompile(`name="pick" value="([^"]*)"`)
	madeTime = regexp.MustCompile(`class="row made"><p>Counted <time datetime="([^"]*)"`)
)

func number(text string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(text, "\u202f", ""))
	if err != nil {
		return 1 // one
	}
	return n
}

// boxes are the proposals that a page lets choose.
func boxes(page string) (all []string) {
	for _, m := range box.FindAllStringSubmatch(page, -1) {
		all = append(all, html.UnescapeString(m[1]))
	}
	return all
}

// TestMap compares the map, its table and the numbers of the page with the forecast.
func TestMap(t *testing.T) {
	w := newHarness(t, 30)
	page := w.Get("/console/load?wait=true")
	r := foreseen(t, w)
	runs, most := 0, 0
	for _, m := range hourRow.FindAllStringSubmatch(page, -1) {
		runs += number(m[2])
		most = max(most, number(m[3]))
	}
	inCells := 0
	for _, m := range cell.FindAllStringSubmatch(page, -1) {
		inCells += number(m[1]) / 12 * number(m[2])
	}
	// The minute may have turned between the two.
	if diff := runs - r.Runs; inCells != runs || diff < -120 || diff > 120 || most != r.Peak || r.Peak != 90 {
		t.Errorf("the table has %d runs and a peak of %d, the cells %d, and the report %d and %d", runs, most, inCells, r.Runs, r.Peak)
	}
	w.Has(page, "target.example:443", "often.example:80", "of 31 jobs", "/console/jobs/default/herd-0", "Counted")
	if got := len(boxes(page)); got == 0 || got != len(r.Proposals) {
		t.Errorf("%d proposals are shown, of %d", got, len(r.Proposals))
	}
	if page := w.Part("/console/load?collection=other&proposals=0&hours=6"); !strings.Contains(page, "of 15 jobs") && !strings.Contains(page, "No runs are planned") {
		t.Errorf("of one collection: %.2000s", page)
	}
}

// TestProposals carries proposals out after their dry run, and counts again.
func TestProposals(t *testing.T) {
	w := newHarness(t, 40)
	before := foreseen(t, w)
	all := boxes(w.Get("/console/load?wait=true"))
	if len(all) < 10 {
		t.Fatalf("there are only %d proposals", len(all))
	}
	r := w.Post("/console/load/review", url.Values{"pick": all, "back": {"/console/load?hours=48"}})
	tagged := boxes(r.Body)
	if r.Status != http.StatusOK || len(tagged) != len(all) || !strings.Contains(r.Body, `<code class="new">&#34;H 9 * * *&#34;`) ||
		!strings.Contains(r.Body, `href="/console/load?hours=48"`) {
		t.Fatalf("the review has %d of %d: %d %.3000s", len(tagged), len(all), r.Status, r.Body)
	}
	if again := foreseen(t, w); again.Peak != before.Peak {
		t.Errorf("the dry run has changed the peak from %d to %d", before.Peak, again.Peak)
	}
	// Somebody changes the first meanwhile, and deletes the second.
	first, _, _ := strings.Cut(tagged[0], " ")
	second, _, _ := strings.Cut(tagged[1], " ")
	w.OK(w.Service.Patch(t.Context(), control.Edit{Key: consoletest.Key(first), Body: []byte(`{"description": "mine"}`)}))
	w.OK(w.Service.Delete(t.Context(), consoletest.Key(second), 0))
	r = w.Post("/console/load/apply", url.Values{"pick": tagged, "back": {"https://elsewhere.example/"}})
	if r.Status != http.StatusOK || strings.Count(r.Body, "changed:") != len(tagged)-2 || strings.Count(r.Body, `role="alert"`) != 2 ||
		!strings.Contains(r.Body, "The job changed since the dry run") || strings.Contains(r.Body, "elsewhere") {
		t.Fatalf("the results are %d %.3000s", r.Status, r.Body)
	}
	after := foreseen(t, w)
	if after.Peak >= before.Peak || after.Peak > before.PeakAfter+2 {
		t.Errorf("the peak was %d, was to be %d, and is %d", before.Peak, before.PeakAfter, after.Peak)
	}
	if page := w.Get("/console/load?wait=true"); len(boxes(page)) != len(after.Proposals) {
		t.Errorf("the page after it is of before: %d proposals, want %d", len(boxes(page)), len(after.Proposals))
	}
}

// TestProposalsRefused sends what invalid proposal, and proposals of jobs that somebody may not change.
func TestProposalsRefused(t *testing.T) {
	w := newHarness(t, 20)
	all := boxes(w.Get("/console/load?wait=true"))
	for _, pick := range []string{
		"", "default/herd-0", `default/herd-0 {"properties": {"action": null}}`, `default/herd-0 {"properties": {"jitter": "PT1M"}} x`,
		`default/../x {"properties": {"jitter": "PT1M"}}`, `default/herd-0 {"properties": {"jitter": "PT1M", "recurrence": {"cron": "* * * * *"}}}`,
	} {
		w.Wants(http.StatusBadRequest, w.Post("/console/load/review", url.Values{"pick": {pick}}), "invalid proposal")
	}
	for _, path := range []string{"/console/load/review", "/console/load/apply"} {
		none := w.Post(path, url.Values{"back": {"/console/load?hours=48"}})
		w.Wants(http.StatusSeeOther, none)
		if none.Header.Get("Location") != "/console/load?hours=48" {
			t.Errorf("without a proposal, it leads to %s", none.Header.Get("Location"))
		}
		w.Has(w.Get("/console/load?hours=48"), "Select proposals first.")
	}
	w.Wants(http.StatusForbidden, w.Post("/console/load/review", url.Values{"pick": {all[0]}}, "Origin: https://evil.example", "Sec-Fetch-Site: cross-site"))
	tagged := boxes(w.Post("/console/load/review", url.Values{"pick": all}).Body)
	before := foreseen(t, w)

	w.Be("reader")
	if page := w.Get("/console/load?wait=true"); len(boxes(page)) != 0 || !strings.Contains(page, "You need the role operator") {
		t.Errorf("a reader sees %v", boxes(page))
	}
	w.Wants(http.StatusForbidden, w.Post("/console/load/apply", url.Values{"pick": tagged}))
	w.Be("operator@other", "reader")
	page := boxes(w.Get("/console/load?wait=true"))
	if len(page) == 0 || slices.ContainsFunc(page, func(v string) bool { return !strings.HasPrefix(v, "other/") }) {
		t.Errorf("an operator of one collection may choose %v", page)
	}
	r := w.Post("/console/load/apply", url.Values{"pick": tagged})
	denied := 0
	for _, v := range tagged {
		if strings.HasPrefix(v, "default/") {
			denied++
		}
	}
	if denied == 0 || strings.Count(r.Body, `role="alert"`) != denied || strings.Count(r.Body, "changed:") != len(tagged)-denied {
		t.Errorf("%d are denied: %d %.3000s", denied, r.Status, r.Body)
	}
	if after := foreseen(t, w); after.Peak >= before.Peak {
		t.Errorf("nothing was changed: %d", after.Peak)
	}
}

// TestShared looks several times: what was counted is shown again, with its age, until somebody has it counted anew; and only to
// those who may see as much.
func TestShared(t *testing.T) {
	w := newHarness(t, 4)
	made := func() string {
		t.Helper()
		m := madeTime.FindStringSubmatch(w.Get("/console/load?wait=true"))
		if m == nil {
			t.Fatal("the page does not say when it was counted")
		}
		return m[1]
	}
	first := made()
	w.Put("default/more", `{"recurrence": {"cron": "0 9 * * *"}, `+action("https://target.example/"))
	if again := made(); again != first {
		t.Errorf("it was counted at %s and %s", first, again)
	}
	for to, want := range map[string]string{
		"/console/load?hours=48": "/console/load?hours=48", "/console/calendar": "/console/calendar", "https://evil.example/": "/console/load",
		"//evil.example/console/load": "/console/load",
	} {
		if r := w.Post("/console/load/renew", url.Values{"to": {to}}); r.Status != http.StatusSeeOther || r.Header.Get("Location") != want {
			t.Errorf("%s leads to %d %s", to, r.Status, r.Header.Get("Location"))
		}
	}
	if again := made(); again == first {
		t.Error("it is not counted anew")
	}
	w.Be("reader@other")
	page := w.Get("/console/load?wait=true")
	w.Has(page, "!default", "of 2 jobs")
	w.Wants(http.StatusForbidden, w.Do(http.MethodGet, "/console/load?collection=default", ""))
}

// TestLoadRefuses has parameters that are wrong, and nothing that is planned.
func TestLoadRefuses(t *testing.T) {
	w := consoletest.New(t)
	for query, status := range map[string]int{
		"hours=0": 400, "hours=169": 400, "hours=x": 400, "proposals=-1": 400, "proposals=1001": 400, "collection=none": 404, "collection=1st": 400,
		"hours=168": 200, "": 200,
	} {
		r := w.Do(http.MethodGet, "/console/load?wait=true&"+query, "")
		if r.Status != status || !strings.Contains(r.Body, "<form") || (status != 200) != strings.Contains(r.Body, `class="problem"`) {
			t.Errorf("%s: %d %s", query, r.Status, r.Body)
		}
	}
	w.Has(w.Get("/console/load?wait=true"), "No runs are planned", "carillon apply")
}
