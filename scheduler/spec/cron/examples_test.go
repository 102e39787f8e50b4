package cron

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
)

// TestObsidianSeed has every expression of Obsidian's page "Cron" with what the page says of it.
func TestObsidianSeed(t *testing.T) {
	for _, example := range []struct{ text, meaning, after, expected string }{
		{"* * * * *", "every minute", "2024-01-01 00:00", "2024-01-01 00:01, 2024-01-01 00:02"},
		{"30 19 * * 5", "7:30 PM on all Fridays", "2024-01-01 00:00", "2024-01-05 19:30, 2024-01-12 19:30"},
		{"35 8 * * * *;20 12 * * *;40 16 * * *", "any of the patterns", "2024-01-01 09:00", "2024-01-01 12:20, 2024-01-01 16:40, 2024-01-02 08:35"},
		{"0 0 * * *", "every midnight", "2024-01-01 00:00", "2024-01-02 00:00, 2024-01-03 00:00"},
		{"0/2 * * * *", "every even minute", "2024-01-01 00:00", "2024-01-01 00:02, 2024-01-01 00:04"},
		{"0/15 * * * *", "every 15 minutes", "2024-01-01 00:00", "2024-01-01 00:15, 2024-01-01 00:30, 2024-01-01 00:45, 2024-01-01 01:00"},
		{"*/15 * * * *", "every 15 minutes", "2024-01-01 00:00", "2024-01-01 00:15, 2024-01-01 00:30, 2024-01-01 00:45, 2024-01-01 01:00"},
		{"1/2 * * * *", "every odd minute", "2024-01-01 00:00", "2024-01-01 00:01, 2024-01-01 00:03"},
		{"0/5,7 * * * *", "every 5 minutes, and at 7th minute", "2024-01-01 00:00", "2024-01-01 00:05, 2024-01-01 00:07, 2024-01-01 00:10"},
		{"0 0 * * MON,WED,FRI", "Mondays, Wednesdays and Fridays", "2024-01-01 00:00", "2024-01-03 00:00, 2024-01-05 00:00, 2024-01-08 00:00"},
		{"0-15 * * * *", "from 0th to 15th minute inclusive", "2024-01-01 00:14", "2024-01-01 00:15, 2024-01-01 01:00"},
		{"0 0 1 1-3 *", "January through March inclusive", "2024-01-01 00:00", "2024-02-01 00:00, 2024-03-01 00:00, 2025-01-01 00:00"},
		{"0 0 1 JAN-MAR *", "January through March inclusive", "2024-01-01 00:00", "2024-02-01 00:00, 2024-03-01 00:00, 2025-01-01 00:00"},
		{"0 0 * * 5L", "midnight on last Friday of the month", "2024-01-01 00:00", "2024-01-26 00:00, 2024-02-23 00:00"},
		{"0 0 L * *", "the last day of the month", "2024-01-01 00:00", "2024-01-31 00:00, 2024-02-29 00:00"},
		{"0 0 15W 6 * 2024", "the 15th is a Saturday: Friday the 14th", "2024-01-01 00:00", "2024-06-14 00:00"},
		{"0 0 15W 9 * 2024", "the 15th is a Sunday: Monday the 16th", "2024-01-01 00:00", "2024-09-16 00:00"},
		{"0 0 15W 10 * 2024", "the 15th is a Tuesday", "2024-01-01 00:00", "2024-10-15 00:00"},
		{"0 0 1W 6 * 2024", "the 1st is a Saturday: Monday the 3rd", "2024-01-01 00:00", "2024-06-03 00:00"},
		{"0 0 * * 5#2", "midnight on 2nd Friday of month", "2024-01-01 00:00", "2024-01-12 00:00, 2024-02-09 00:00"},
		{"0 0 * * 1-3,5#2", "Monday to Wednesday, and the second Friday", "2024-01-04 00:00", "2024-01-08 00:00, 2024-01-09 00:00, 2024-01-10 00:00, 2024-01-12 00:00, 2024-01-15 00:00"},
		{"0 0 * * MON,5L", "Mondays, and the last Friday", "2024-01-15 00:00", "2024-01-22 00:00, 2024-01-26 00:00, 2024-01-29 00:00, 2024-02-05 00:00"},
		{"0 0 15 * MON,5L", "the 15th, Mondays, and the last Friday", "2024-02-12 00:00", "2024-02-15 00:00, 2024-02-19 00:00, 2024-02-23 00:00, 2024-02-26 00:00"},
		{"0 0 * * 6/1", "from Saturday to Sunday, as the field is 0-7", "2024-01-01 00:00", "2024-01-06 00:00, 2024-01-07 00:00, 2024-01-13 00:00"},
		{"0 0 * * 1/2", "every odd day from Monday to Sunday, as the field is 0-7", "2024-01-02 00:00", "2024-01-03 00:00, 2024-01-05 00:00, 2024-01-07 00:00, 2024-01-08 00:00"},
		{"@yearly", "once a year, on Jan 1st at midnight", "2024-06-01 00:00", "2025-01-01 00:00"},
		{"@annually", "same as @yearly", "2024-06-01 00:00", "2025-01-01 00:00"},
		{"@monthly", "once a month, on the 1st at midnight", "2024-06-01 00:00", "2024-07-01 00:00"},
		{"@weekly", "once a week, on Sunday at midnight", "2024-06-01 00:00", "2024-06-02 00:00"},
		{"@daily", "once a day, at midnight", "2024-06-01 00:00", "2024-06-02 00:00"},
		{"@Midnight", "same as @daily", "2024-06-01 00:00", "2024-06-02 00:00"},
		{"@HOURLY", "on the hour, every hour", "2024-06-01 00:00", "2024-06-01 01:00"},
		{"@recur 7 minutes", "every 7 minutes", "2014-12-31 23:59", "2015-01-01 00:00, 2015-01-01 00:07"},
		{"@recur 7 h", "every 7 hours", "2014-12-31 23:59", "2015-01-01 00:00, 2015-01-01 07:00, 2015-01-01 14:00, 2015-01-01 21:00, 2015-01-02 04:00"},
		{"@recur 3 day", "every 3 days", "2014-12-31 23:59", "2015-01-01 00:00, 2015-01-04 00:00"},
		{"@recur 3 weeks", "every 3 weeks", "2014-12-31 23:59", "2015-01-01 00:00, 2015-01-22 00:00"},
		{"@recur 5 mon", "every 5 months", "2014-12-31 23:59", "2015-01-01 00:00, 2015-06-01 00:00"},
	} {
		rule, err := Parse(example.text, language.Obsidian)
		if err != nil {
			t.Errorf("%q: %v", example.text, err)
			continue
		}
		s := language.Context{}
		if strings.HasPrefix(example.text, "@recur") {
			s.Start = time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC) // the effective date
		}
		expectTimes(t, example.text+" ("+example.meaning+")", compiled(t, rule, s), example.after, example.expected)
	}
}

// expectTimes compares the instants after a time, in UTC.
func expectTimes(t *testing.T, name string, s *instant.Schedule, after, expected string) {
	t.Helper()
	want := strings.Split(expected, ", ")
	var got []string
	for _, at := range nexts(s, localTime(t, after, time.UTC), len(want)) {
		got = append(got, at.Format(recurLayout))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s:\ngot      %v\nexpected %v", name, got, want)
	}
}

// TestObsidianRecurTable has the table of the page, "Recurrence Start DateTime".
func TestObsidianRecurTable(t *testing.T) {
	for _, row := range []struct{ pattern, effective, end, first string }{
		{"@recur 5 month 2015-02-01 02:00", "2015-03-15 12:00", "2999-01-01 00:00", "2015-07-01 02:00"},
		{"@recur 20 weeks 2015-01-15 00:00", "2015-12-20 00:00", "2016-03-10 00:00", "2016-03-10 00:00"},
		{"@recur 20 weeks 2015-01-15 00:00", "2015-12-20 00:00", "2016-01-31 23:59", ""},
		{"@recur 20 weeks 2015-01-15 00:00", "2015-01-01 00:00", "2016-01-31 23:59", "2015-01-15 00:00"},
	} {
		rule := must.Get(Parse(row.pattern, language.Obsidian))(t)
		s := compiled(t, rule, language.Context{Start: localTime(t, row.effective, time.UTC), End: localTime(t, row.end, time.UTC)})
		first, ok := s.Next(time.Time{})
		if ok != (row.first != "") || ok && first.Format(recurLayout) != row.first {
			t.Errorf("%s from %s to %s: first %v %v, not %s", row.pattern, row.effective, row.end, first, ok, row.first)
		}
	}
}

// TestDsariSeed has every expression of dsari's page "Schedule Format", as it is for a job with the name hello. What the
// page gives as examples are results for other names.
func TestDsariSeed(t *testing.T) {
	for _, example := range []struct{ text, description string }{
		{"* * * * * *", "every second, UTC"},
		{"H * * * *", "at second 32 of minute 10 of every hour, UTC"},
		{"H H * * *", "at 11:10:32 every day, UTC"},
		{"H H(0-7) * * *", "at 03:10:32 every day, UTC"},
		{"H/15 * * * *", "at second 32 of minutes 10, 25, 40 and 55 of every hour, UTC"},
		{"H(30-59)/10 * * * *", "at second 32 of minutes 30, 40 and 50 of every hour, UTC"},
		{"@midnight", "at 02:10:32 every day, UTC"},
		{"@hourly", "at second 32 of minute 10 of every hour, UTC"},
		{"@daily", "at 11:10:32 every day, UTC"},
		{"@weekly", "at 11:10:32 every Friday, UTC"},
		{"@monthly", "at 11:10:32 on day 1 of every month, UTC"},
		{"@annually", "at 11:10:32 on 1 September every year, UTC"},
		{"@yearly", "at 11:10:32 on 1 September every year, UTC"},
	} {
		rule, err := Parse(example.text, language.Dsari)
		if err != nil {
			t.Errorf("%q: %v", example.text, err)
			continue
		}
		if got := rule.Describe(language.Context{Name: "hello"}); got != example.description {
			t.Errorf("%q: %s, not %s", example.text, got, example.description)
		}
	}
	if language.HashOf("job1").Pick(language.HashMinute, 0, 59) == language.HashOf("job2").Pick(language.HashMinute, 0, 59) {
		t.Error("job1 and job2 have the same minute")
	}
}
