package jobs_test

import (
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
)

// never is a job that runs in a far year.
const never = `{"startTime": "2090-01-01T00:00:00Z", "action": {"type": "http", "request": {"method": "GET", "uri": "http://api.example.com/x?key=secret"}}}`

// later is one that runs so many hours after that, with labels.
func later(hours int, labels string) string {
	return fmt.Sprintf(`{"startTime": "2090-01-01T00:00:00Z", "recurrence": {"frequency": "hour", "interval": %d}, "labels": {%s}, "state": "enabled",
		"action": {"type": "http", "request": {"method": "GET", "uri": "http://api.example.com/"}}}`, hours, labels)
}

// indexed runs the scheduler, and waits until it knows of all jobs.
func indexed(w *consoletest.Harness) {
	w.T.Helper()
	w.Work()
	w.Await("the index", w.Service.Indexed)
}

var (
	shown = regexp.MustCompile(`data-job="([^"]+)"`)
	links = map[string]*regexp.Regexp{
		"next": regexp.MustCompile(`rel="next" href="([^"]+)"`), "prev": regexp.MustCompile(`rel="prev" href="([^"]+)"`),
	}
)

// rows are the jobs that a page shows.
func rows(body string) []string {
	var all []string
	for _, m := range shown.FindAllStringSubmatch(body, -1) {
		all = append(all, html.UnescapeString(m[1]))
	}
	return all
}

// link is where a link of a page leads, "" when it has none.
func link(body, rel string) string {
	m := links[rel].FindStringSubmatch(body)
	if m == nil {
		return ""
	}
	return html.UnescapeString(m[1])
}

// TestPaused finds jobs that are paused, and says until when.
func TestPaused(t *testing.T) {
	w := consoletest.New(t)
	for _, name := range []string{"default/a", "default/b", "default/c"} {
		w.Put(name, never)
	}
	indexed(w)
	pause := func(name, until string) {
		w.OK(w.Service.Pause(t.Context(), consoletest.Key(name), until))
	}
	pause("default/a", "2h")
	pause("default/c", "2h")
	paused := func(want string) {
		w.Await("the paused ones to be "+want, func() bool { return strings.Join(rows(w.Part("/console/jobs?state=paused")), " ") == want })
	}
	paused("default/a default/c")
	body := w.Get("/console/jobs?state=paused")
	w.Has(body, `<option selected>paused</option>`, `class="state paused"`, "ends <time", "2 jobs")
	at := ask(w, url.Values{"do": {"enable"}, "all": {"1"}, "state": {"paused"}})
	w.Has(confirm(w, at, nil), "<dt>done</dt><dd>2</dd>")
	paused("")
	w.Put("default/b", `{"pausedUntil": "2090-01-01T00:00:00Z", `+never[1:])
	paused("default/b")
}

// TestRows shows a schedule in short and on hover whole, and a job that always fails as failing.
func TestRows(t *testing.T) {
	w := consoletest.New(t)
	target := w.Target()
	w.Put("default/often", `{"recurrence": {"frequency": "minute", "interval": 2}, "action": {"type": "http", "request": {"method": "GET", "uri": "`+target+`"}}}`)
	w.Put("default/fails", `{"recurrence": {"frequency": "second", "interval": 1},
		"action": {"type": "http", "request": {"method": "GET", "uri": "`+target+`/?fail"}, "retryPolicy": {"retryType": "none"}}}`)
	indexed(w)
	w.Await("two failures", func() bool { return w.Job("default/fails").Status.Faults > 1 })
	w.Has(w.Part("/console/jobs?q=often"), `title="at once, then every 2 minutes">every 2 min<`, `class="state enabled"`)
	w.Await("it to look failing", func() bool { return strings.Contains(w.Part("/console/jobs?q=fails"), `class="state failing"`) })
}

// TestLastRuns shows the last runs of a job where they are asked for: not in the first page, not those of an earlier job of the name,
// and not to those who may not see the job.
func TestLastRuns(t *testing.T) {
	w := consoletest.New(t)
	w.Put("default/a", never)
	w.Put("default/new", never)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	record := func(key string, number, faults int, outcome scheduler.Outcome) {
		r := consoletest.Attempt(key, at.Add(time.Duration(number)*time.Hour))
		r.Outcome, r.Progress = outcome, scheduler.Progress{Number: number, Faults: faults}
		w.Append(r)
	}
	record("default/a", 40, 1, scheduler.OutcomeFaulted)
	record("default/a", 42, 1, scheduler.OutcomeCompleted)
	record("default/new", 1, 0, scheduler.OutcomeCompleted)
	w.OK(w.Service.Delete(t.Context(), consoletest.Key("default/new"), 0))
	w.Put("default/new", never)
	indexed(w)
	const strip = `<td data-live="runs"><svg class="spark" viewBox="0 0 60 16" preserveAspectRatio="none" role="img" ` +
		`aria-label="The last 12 runs. 11 completed. 1 faulted."><title>The last 12 runs.`
	w.Has(w.Get("/console/jobs"), `<th scope="col" class="live-runs" data-script hidden>Recent runs</th>`, "!<svg")
	w.Has(w.Part("/console/jobs?shown=default/a&shown=default/new&runs=1"), strip, `id="job-default.new"`)
	if body := w.Part("/console/jobs?shown=default/a&shown=default/new&runs=1"); strings.Count(body, "<svg") != 1 {
		t.Error(body)
	}
	w.Has(w.Part("/console/jobs?shown=default/a"), `id="job-default.a"`, "!<svg")
	w.Be("reader@billing")
	w.Has(w.Part("/console/jobs?shown=default/a&runs=1"), "!default")
}

// TestFilters finds jobs by each filter of the address.
func TestFilters(t *testing.T) {
	w := consoletest.New(t)
	w.Collect("billing")
	target := w.Target()
	w.Put("default/alpha", later(1, `"team": "red", "env": "prod"`))
	w.Put("default/Beta", `{"state": "disabled", `+never[1:])
	w.Put("billing/gamma", `{"action": {"type": "http", "request": {"method": "GET", "uri": "`+target+`"}}}`)
	w.Put("billing/delta", `{"recurrence": {"frequency": "hour", "interval": 1},
		"action": {"type": "http", "request": {"method": "GET", "uri": "`+target+`/?fail"}, "retryPolicy": {"retryType": "none"}}}`)
	indexed(w)
	w.Await("both to have run", func() bool {
		return state(w, "billing/gamma") == scheduler.Completed && w.Job("billing/delta").Status.Faults == 1
	})
	for query, want := range map[string]string{
		"":                              "billing/delta billing/gamma default/Beta default/alpha",
		"order=descending":              "default/alpha default/Beta billing/gamma billing/delta",
		"q=ETA":                         "default/Beta",
		"q=team%3Dre":                   "default/alpha",
		"q=api.example":                 "default/Beta default/alpha",
		"q=secret":                      "",
		"q=127.0.0.1":                   "billing/delta billing/gamma",
		"q=billing/g":                   "billing/gamma",
		"collection=billing":            "billing/delta billing/gamma",
		"state=disabled":                "default/Beta",
		"state=completed":               "billing/gamma",
		"action=Http":                   "billing/delta billing/gamma default/Beta default/alpha",
		"action=NatsMessage":            "",
		"target=127.0.0.1":              "billing/delta billing/gamma",
		"target=127.0.0.1:1":            "",
		"label=env%3Dprod":              "default/alpha",
		"label=team":                    "default/alpha",
		"outcome=completed":             "billing/gamma",
		"outcome=faulted":               "billing/delta",
		"outcome=never":                 "default/Beta default/alpha",
		"within=24h":                    "billing/delta",
		"sort=next":                     "billing/delta default/alpha billing/gamma default/Beta",
		"sort=next&q=a&within=1000000h": "billing/delta default/alpha",
		"sort=last&outcome=completed&collection=billing": "billing/gamma",
	} {
		w.Await(query+" to find "+want, func() bool { return strings.Join(rows(w.Part("/console/jobs?"+query)), " ") == want })
	}
	for query, want := range map[string]string{
		"state=running":  "state: must be one of enabled, paused, disabled, completed, faulted, damaged; got &#34;running&#34;",
		"action=Nothing": "action: must be one of Http,", "outcome=soon": "outcome: must be one of completed, failed,",
		"sort=size": "sort: must be one of name, next, last; got", "within=x": "within: must be one of 1m, 1h, 24h, 168h; got",
		"within=-1h": "within: must be one of", "within=0s": "within: must be one of",
		"label=a%3D%3D%3D": "label: ", "collection=nowhere": "nowhere", "after=x": "x",
	} {
		if body := w.Get("/console/jobs?" + query); !strings.Contains(body, `class="problem"`) || !strings.Contains(body, want) || len(rows(body)) > 0 {
			t.Errorf("%s: %.3000s", query, body)
		}
	}
}

// TestPagesWhileJobsComeAndGo turns pages while others put and delete jobs: each job that stays as it is is on one page, and
// on no other, forwards and back, in any order.
func TestPagesWhileJobsComeAndGo(t *testing.T) {
	w := consoletest.New(t)
	const staying = 120
	var stay []string
	for i := range staying {
		key := fmt.Sprintf("default/stays-%03d", i*7%staying)
		w.Put(key, later(1+i%3, `"i": "`+strconv.Itoa(i)+`"`))
		stay = append(stay, key)
	}
	slices.Sort(stay)
	indexed(w)
	n, random := 0, rand.New(rand.NewPCG(7, 8))
	for _, order := range []string{"", "order=descending", "sort=next", "sort=next&order=descending", "sort=last", "q=s"} {
		var came []string
		goes := func() {
			w.OK(w.Service.Delete(t.Context(), consoletest.Key(came[0]), 0))
			came = came[1:]
		}
		disturb := func() {
			for range random.IntN(4) {
				if len(came) > 0 && random.IntN(2) == 0 {
					goes()
					continue
				}
				n++
				key := fmt.Sprintf("default/%c-comes-%d", "abrstyz"[random.IntN(7)], n)
				w.Put(key, later(1+random.IntN(3), ""))
				came = append(came, key)
			}
		}
		turn := func(rel, at string) (seen []string, last string) {
			for at != "" {
				last = at
				body := w.Part(at)
				for _, key := range rows(body) {
					if strings.Contains(key, "stays") {
						seen = append(seen, key)
					}
				}
				disturb()
				at = link(body, rel)
			}
			return seen, last
		}
		forwards, last := turn("next", "/console/jobs?"+order)
		slices.Sort(forwards)
		if !slices.Equal(forwards, stay) {
			t.Fatalf("%s: forwards there are %d of %d", order, len(forwards), len(stay))
		}
		for len(came) > 0 { // the last page may be empty then
			goes()
		}
		backwards, _ := turn("prev", last)
		slices.Sort(backwards)
		if !slices.Equal(backwards, stay) {
			t.Fatalf("%s: back there are %d of %d", order, len(backwards), len(stay))
		}
	}
}

// TestBeforeTheIndex lists by name, and counts nothing.
func TestBeforeTheIndex(t *testing.T) {
	w := consoletest.New(t)
	for i := range 60 {
		w.Put(fmt.Sprintf("default/job-%02d", i), never)
	}
	body := w.Get("/console/jobs?sort=next&q=job")
	if got := rows(body); len(got) != 50 || got[0] != "default/job-00" || !strings.Contains(body, "is being built") {
		t.Fatalf("%d jobs: %.3000s", len(got), body)
	}
	if got := rows(w.Get(link(body, "next"))); len(got) != 10 || got[0] != "default/job-50" {
		t.Errorf("the next page: %v", got)
	}
}

// TestRefresh shows jobs as they are now, and those that are gone.
func TestRefresh(t *testing.T) {
	w := consoletest.New(t)
	w.Collect("secret")
	w.Put("default/there", never)
	w.Put("secret/there", never)
	w.Be("reader@default")
	body := w.Part("/console/jobs?shown=default/there&shown=default/gone&shown=secret/there&shown=%2F%3Cb%3E")
	w.Has(body, `id="job-default.there"`, "state deleted", "!secret", "!<b>")
}

// TestRights: readers see no boxes and no buttons, and nothing of other collections; what they post is refused.
func TestRights(t *testing.T) {
	w := consoletest.New(t)
	w.Collect("billing")
	w.Put("default/mine", never)
	w.Put("billing/theirs", never)
	indexed(w)
	w.Be("reader@default")
	body := w.Get("/console/jobs")
	if got := rows(body); !slices.Equal(got, []string{"default/mine"}) || strings.Contains(body, `class="pick"`) || strings.Contains(body, `name="do"`) || strings.Contains(body, "/console/jobs/new") {
		t.Errorf("%v: %s", got, body)
	}
	w.Wants(http.StatusForbidden, w.Post("/console/many", url.Values{"do": {"disable"}, "job": {"default/mine"}}))
	w.Be("reader", "operator@default")
	body = w.Get("/console/jobs")
	if strings.Count(body, `name="job"`) != 1 || !strings.Contains(body, `value="default/mine"`) {
		t.Errorf("not one box: %s", body)
	}
}

// TestEmpty says what fills the table, and what a search looks for.
func TestEmpty(t *testing.T) {
	w := consoletest.New(t)
	indexed(w)
	w.Has(w.Get("/console/jobs"), "carillon apply examples/jobs", "/console/jobs/new")
	w.Has(w.Part("/console/jobs?q=nothing"), "!carillon apply", "Show all jobs")
}

// TestFiles has more jobs than a page in its files, and those only that the filter selects and the caller may see.
func TestFiles(t *testing.T) {
	w := consoletest.New(t)
	w.Collect("other")
	for i := range 120 {
		w.Put(fmt.Sprintf("default/j%03d", i), never)
	}
	w.Put("other/k", later(1, `"a": "=1"`))
	indexed(w)
	w.Has(w.Get("/console/jobs?q=j0&sort=next"), `href="/console/jobs?as=csv&amp;q=j0"`)
	lines := strings.Split(w.Get("/console/jobs?as=csv&sort=next&order=descending"), "\r\n")
	if len(lines) != 123 || !strings.HasPrefix(lines[1], "default/j000,enabled,,") || !strings.HasPrefix(lines[121], "other/k,") {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
	var all []struct {
		ID string `json:"id"`
	}
	w.OK(json.Unmarshal([]byte(w.Get("/console/jobs?as=json&q=j11")), &all))
	if len(all) != 10 {
		t.Errorf("%d jobs: %v", len(all), all)
	}
	w.Wants(http.StatusBadRequest, w.Do(http.MethodGet, "/console/jobs?as=csv&within=x", ""), "within")
	w.Be("reader@other")
	w.Has(w.Get("/console/jobs?as=csv"), "other/k", `""a"":""=1""`, "!default")
	w.Wants(http.StatusForbidden, w.Do(http.MethodGet, "/console/jobs?as=csv&collection=default", ""))
}
