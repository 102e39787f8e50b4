package load_test

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
	"github.com/carillon-sched/carillon/scheduler/console/words"
)

var dayRow = regexp.MustCompile(`(?s)<tr id="(h[^"]*)" data-line[^>]*><th scope="row">([^<]*)</th>\s*<td class="amount">(.*?)</td>\s*<td>(.*?)</td></tr>`)

var tag = regexp.MustCompile(`<[^>]*>|\s+`)

// hours are the lines of a day: by their labels what they say.
func hours(page string) (labels []string, says map[string]string) {
	says = map[string]string{}
	for _, m := range dayRow.FindAllStringSubmatch(page, -1) {
		label := html.UnescapeString(m[2])
		labels = append(labels, label)
		says[label] = strings.Join(strings.Fields(tag.ReplaceAllString(m[3]+" | "+m[4], " ")), " ")
	}
	return labels, says
}

// TestDay shows jobs in their hours: in zones of whole and of half hours, and where clocks change.
func TestDay(t *testing.T) {
	w := consoletest.New(t)
	w.Collect("other")
	w.Put("default/berlin", `{"recurrence": {"cron": "30 2 * * *"}, "timeZone": "Europe/Berlin", `+action("https://a.example/"))
	w.Put("default/india", `{"recurrence": {"cron": "15 9 * * *"}, "timeZone": "Asia/Kolkata", `+action("https://a.example/"))
	w.Put("other/seconds", `{"startTime": "2026-01-01T00:00:00Z", "recurrence": {"frequency": "second"}, `+action("https://a.example/"))
	w.Put("other/off", `{"state": "disabled", "recurrence": {"cron": "0 3 * * *"}, `+action("https://a.example/"))
	year := time.Now().Year() + 1
	lastSunday := func(m time.Month) string {
		last := time.Date(year, m+1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, -1)
		return last.AddDate(0, 0, -int(last.Weekday())).Format("2006-01-02")
	}
	for _, test := range []struct {
		query  string
		length int
		says   map[string]string
	}{
		{fmt.Sprintf("date=%d-06-16&zone=Europe/Berlin", year), 24, map[string]string{
			"02:00": "3 601 | 02:00 other/seconds × 3 600 02:30 default/berlin", "05:00": "3 601 | 05:00 other/seconds × 3 600 05:45 default/india",
		}},
		{fmt.Sprintf("date=%d-06-16&zone=Asia/Kolkata&collection=default", year), 24, map[string]string{
			"06:00": "1 | 06:00 default/berlin", "09:00": "1 | 09:15 default/india", "10:00": "|",
		}},
		{fmt.Sprintf("date=%d-06-16&zone=Asia/Kolkata&job=india", year), 24, map[string]string{"06:00": "|", "09:00": "1 | 09:15 default/india"}},
		{fmt.Sprintf("date=%d-06-16&job=other/seconds&zone=UTC", year), 24, map[string]string{"23:00": "3 600 | 23:00 other/seconds × 3 600"}},
		{"date=" + lastSunday(time.March) + "&zone=Europe/Berlin&job=berlin", 23, map[string]string{"03:00 +02:00": "1 | 03:00 default/berlin", "01:00 +01:00": "|"}},
		{"date=" + lastSunday(time.October) + "&zone=Europe/Berlin&job=berlin", 25, map[string]string{"02:00 +02:00": "1 | 02:30 default/berlin", "02:00 +01:00": "|"}},
		{"date=" + lastSunday(time.October) + "&zone=Europe/Berlin&collection=other", 25, map[string]string{
			"02:00 +01:00": "3 600 | 02:00 other/seconds × 3 600",
		}},
	} {
		page := w.Get("/console/calendar?wait=true&" + test.query)
		labels, says := hours(page)
		if len(labels) != test.length {
			t.Errorf("%s has %d hours: %v", test.query, len(labels), labels)
		}
		if (test.length != 24) != strings.Contains(page, "on this day. Each hour") {
			t.Errorf("%s says something else of its clock", test.query)
		}
		for label, want := range test.says {
			if says[label] != want {
				t.Errorf("%s %s: %q, want %q", test.query, label, says[label], want)
			}
		}
	}
}

// TestWeek has the hours of seven days, that are summed up, with the clock change in it.
func TestWeek(t *testing.T) {
	w := consoletest.New(t)
	w.Put("default/berlin", `{"recurrence": {"cron": "30 2 * * *"}, "timeZone": "Europe/Berlin", `+action("https://a.example/"))
	w.Put("default/seconds", `{"startTime": "2026-01-01T00:00:00Z", "recurrence": {"frequency": "second"}, `+action("https://a.example/"))
	october := time.Date(time.Now().Year()+1, 11, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, -1)
	sunday := october.AddDate(0, 0, -int(october.Weekday()))
	page := w.Get("/console/calendar?wait=true&view=week&zone=Europe/Berlin&date=" + sunday.AddDate(0, 0, -3).Format("2006-01-02"))
	if want := fmt.Sprintf("<caption>%s runs</caption>", words.Number(169*3600+7)); !strings.Contains(page, want) || !strings.Contains(page, "in this week.") {
		t.Errorf("the week has not %s: %.3000s", want, page)
	}
	row := regexp.MustCompile(`(?s)<th scope="row">02:00</th>(.*?)</tr>`).FindString(page)
	if strings.Count(row, "<td") != 7 || strings.Count(row, "<a ") != 8 || !strings.Contains(row, sunday.Format("2006-01-02")+"&amp;zone=Europe%2FBerlin#h0200&#43;0200") {
		t.Errorf("the hour that is there twice is %s", row)
	}
}

// TestCalendarOfRange opens the calendar with the time range of another page, and another page with the day of the calendar.
func TestCalendarOfRange(t *testing.T) {
	w := consoletest.New(t)
	w.Has(w.Get("/console/calendar?since=2026-03-08T10:00Z&until=2026-03-08T12:00Z"), "Sunday, 8 March 2026",
		`href="/console/live?since=2026-03-08T00%3A00%3A00Z&amp;until=2026-03-09T00%3A00%3A00Z"`)
	w.Has(w.Get("/console/calendar?since=2026-03-04T10:00Z&until=2026-03-08T12:00Z"), "2 March – 8 March 2026")
	w.Has(w.Get("/console/calendar?since=1h"), "!href=\"/console/live\"")
	w.Has(w.Get("/console/calendar?date=2099-03-08"), `href="/console/live"`)
}

// TestHerdDay has a day on which thousands of jobs run at once: a few are named, the others summed up.
func TestHerdDay(t *testing.T) {
	w := newHarness(t, 300)
	page := w.Get("/console/calendar?wait=true&zone=UTC&date=" + time.Now().AddDate(0, 0, 3).Format("2006-01-02"))
	_, says := hours(page)
	if got := says["09:00"]; strings.Count(got, "herd-") != 8 || !strings.HasPrefix(got, "3 900 |") || !strings.HasSuffix(got, "and 293 more jobs: 3 892 runs") {
		t.Errorf("the hour of the herd is %q", got)
	}
}

// TestPastDay tells of what is over by the history, and of what lies ahead by the schedules.
func TestPastDay(t *testing.T) {
	w := consoletest.New(t)
	w.Put("default/a", `{"startTime": "2099-01-01T00:00:00Z", "recurrence": {"frequency": "day"}, `+action("https://a.example/"))
	yesterday := time.Now().UTC().AddDate(0, 0, -1).Truncate(24 * time.Hour)
	record := func(at time.Time, outcome scheduler.Outcome, count int) {
		t.Helper()
		r := consoletest.Attempt("default/a", at)
		if r.Outcome, r.Count = outcome, count; outcome == scheduler.OutcomeSkipped {
			r.ID, r.Started, r.Try = "", time.Time{}, 0
		}
		w.Append(r)
	}
	record(yesterday.Add(-time.Second), scheduler.OutcomeCompleted, 0) // the day before
	for i := range 150 {
		record(yesterday.Add(3*time.Hour+time.Duration(i)*10*time.Second), scheduler.OutcomeCompleted, 0)
	}
	record(yesterday.Add(4*time.Hour), scheduler.OutcomeFailed, 0)
	record(yesterday.Add(4*time.Hour), scheduler.OutcomeFaulted, 0)
	record(yesterday.Add(5*time.Hour), scheduler.OutcomeSkipped, 12)
	page := w.Get("/console/calendar?wait=true&zone=UTC&date=" + yesterday.Format("2006-01-02"))
	labels, says := hours(page)
	for label, want := range map[string]string{
		"03:00": "150 ran | 03:00 default/a × 150", "04:00": "1 ran failed 1 | 04:00 default/a 1 failed", "05:00": "skipped 12 |",
	} {
		if says[label] != want {
			t.Errorf("%s: %q, want %q", label, says[label], want)
		}
	}
	for _, still := range []string{"00:00 – 03:00", "06:00 – 24:00"} {
		w.Has(page, `<th scope="row">`+still+`</th><td colspan="2" class="faint">no runs</td>`)
	}
	if len(labels) != 3 || !strings.Contains(page, "Past hours come from the history") || !strings.Contains(page, "Count again") {
		t.Errorf("%v: %.3000s", labels, page)
	}
	link := regexp.MustCompile(`href="(/console/live\?since[^"]*)"`).FindStringSubmatch(page)
	if len(link) != 2 || strings.Count(w.Get(strings.ReplaceAll(link[1], "&amp;", "&")), "data-sequence=") != 99 { // of 100 records, two are of one attempt
		t.Errorf("%v does not lead to the attempts", link)
	}
}

// TestBusyPast has more records than are read for a page: it says how far back they were.
func TestBusyPast(t *testing.T) {
	w := consoletest.New(t)
	begin := time.Now().UTC().AddDate(0, 0, -1).Truncate(24 * time.Hour)
	for job := range 5 {
		key := fmt.Sprintf("default/j%d", job)
		w.Put(key, `{"startTime": "2099-01-01T00:00:00Z", "recurrence": {"frequency": "day"}, `+action("https://a.example/"))
		for i := range 800 {
			w.Append(consoletest.Attempt(key, begin.Add(time.Duration(job*800+i)*20*time.Second)))
		}
	}
	page := w.Get("/console/calendar?wait=true&zone=UTC&date=" + begin.Format("2006-01-02"))
	_, says := hours(page)
	if !strings.Contains(page, "are shown back to") || !strings.HasPrefix(says["00:00"], "not read") ||
		!strings.HasPrefix(says["21:00"], "180 ran") {
		t.Errorf("00:00 is %q, 21:00 %q", says["00:00"], says["21:00"])
	}
}

// TestCalendarRefuses has addresses that are wrong, and those of somebody who may not see all.
func TestCalendarRefuses(t *testing.T) {
	w := newHarness(t, 4)
	for query, status := range map[string]int{
		"zone=Mars/Olympus": 400, "zone=Local": 400, "date=tomorrow": 400, "date=2026-02-30": 400, "job=none": 404, "collection=none": 404, "job=1st": 400,
		"date=9999-12-31": 400, "date=0001-01-01": 200, "date=2020-01-01&view=week": 200, "zone=UTC": 200,
	} {
		w.Wants(status, w.Do(http.MethodGet, "/console/calendar?wait=true&"+query, ""), "<form")
	}
	w.Be("reader@other")
	w.Wants(http.StatusForbidden, w.Do(http.MethodGet, "/console/calendar?job=herd-0", ""))
	page := w.Get("/console/calendar?wait=true&zone=UTC&date=" + time.Now().AddDate(0, 0, 3).Format("2006-01-02"))
	if _, says := hours(page); strings.Contains(page, "default/") || !strings.HasPrefix(says["09:00"], "2 | 09:00 other/herd-1") {
		t.Errorf("a reader of one collection sees %q", says["09:00"])
	}
}

// TestFeed has the address of the coming runs for what is shown.
func TestFeed(t *testing.T) {
	w := newHarness(t, 1)
	for query, path := range map[string]string{
		"": "/runs.ics", "collection=other": "/jobCollections/other/runs.ics", "job=often": "/jobCollections/default/jobs/often/runs.ics",
	} {
		w.Has(w.Get("/console/calendar?wait=true&"+query), `href="`+w.Console.URL+path+`"`)
	}
}
