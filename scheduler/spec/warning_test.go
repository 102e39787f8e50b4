package spec_test

import (
	"strings"
	"testing"
)

// TestWarnings tells of what is allowed and may not be meant so.
func TestWarnings(t *testing.T) {
	const never = "never runs: "
	for job, want := range map[string]string{
		`{}`:                           "",
		`{"startTime": "1999-01-01"}`:  "", // it runs at once
		`{"timeZone": "Europe/Paris"}`: "timeZone: Europe/Paris has no effect without recurrence; give startTime an offset instead",

		`{"recurrence": {"cron": "0 9 31 2 *"}}`:                                                 "recurrence.cron: " + never + "no time matches",
		`{"recurrence": {"cron": "0 9 1 1 * 2010"}}`:                                             "recurrence.cron: " + never + "its last time was 2010-01-01 09:00 UTC",
		`{"recurrence": {"frequency": "day", "endTime": "1999-01-01"}}`:                          "recurrence: " + never + "no time matches until the end, 1999-01-01 00:00 UTC",
		`{"recurrence": {"rrule": "DTSTART:20000101T000000Z RRULE:FREQ=DAILY;COUNT=2"}}`:         "recurrence.rrule: " + never + "its last time was 2000-01-02 00:00 UTC",
		`{"recurrence": {"frequency": "month", "schedule": {"monthDays": [31]}, "interval": 1}}`: "",

		`{"timeZone": "Europe/Paris", "recurrence": {"frequency": "day"}}`:               "timeZone: the recurrence counts in UTC; timeZone Europe/Paris applies to cron and rrule only",
		`{"timeZone": "UTC", "recurrence": {"frequency": "day"}}`:                        "",
		`{"timeZone": "Europe/Paris", "recurrence": {"cron": "0 9 * * * * Asia/Tokyo"}}`: "timeZone: Europe/Paris has no effect: the rule names its own, Asia/Tokyo",
		`{"timeZone": "Asia/Tokyo", "recurrence": {"cron": "0 9 * * * * Asia/Tokyo"}}`:   "",

		`{"recurrence": {"cron": "0 0 9 * * *"}}`:                     `recurrence.cron: "0 0 9 * * *" has six fields, and the sixth is the year; it looks like a language that begins with the second: write "0 9 * * *" for that`,
		`{"recurrence": {"cron": "*/10 * * * * *"}}`:                  `recurrence.cron: "*/10 * * * * *" has six fields, and the sixth is the year; it looks like a language that begins with the second: this one has no seconds`,
		`{"recurrence": {"cron": "0 0 9 * * *", "dialect": "dsari"}}`: `recurrence.cron: "0 0 9 * * *" has six fields, and the sixth is the second, and * every one of a minute; it looks like a language that begins with the second: write "0 9 * * * 0" for that`,
		`{"recurrence": {"cron": "30 0 9 * * *"}}`:                    "",
		`{"recurrence": {"cron": "0 0 9 * * 2099"}}`:                  "",
		`{"recurrence": {"cron": "0 0 9 * * * Asia/Tokyo"}}`:          "",
		`{"recurrence": {"cron": "* * * * * *", "dialect": "dsari"}}`: "",
		`{"recurrence": {"cron": "0 9 * * *"}}`:                       "",
		`{"recurrence": {"cron": "*/90 * * * *"}}`:                    "recurrence.cron: minute: */90 steps beyond 59, which leaves 0 only",
		`{"recurrence": {"cron": "*/59 * * * *"}}`:                    "",
		`{"recurrence": {"cron": "0 9 * * *; 0 20/6 */31 * *"}}`:      "recurrence.cron: hour: 20/6 steps beyond 23, which leaves 20 only\nrecurrence.cron: day of month: */31 steps beyond 31, which leaves 1 only",
		`{"recurrence": {"cron": "5 9 * * *"}}`:                       "",

		`{"recurrence": {"rrule": "DTSTART;TZID=Europe/Paris:20300101T090000 RRULE:FREQ=WEEKLY;BYDAY=MO"}}`: "recurrence.rrule: DTSTART, 1 January 2030 09:00, is no occurrence of the rule; the first is 7 January 2030 09:00",
		`{"recurrence": {"rrule": "DTSTART;TZID=Europe/Paris:20300107T090000 RRULE:FREQ=WEEKLY;BYDAY=MO"}}`: "",
		`{"recurrence": {"rrule": "DTSTART:20300101T090000Z RRULE:FREQ=DAILY EXRULE:FREQ=DAILY;COUNT=1"}}`:  "recurrence.rrule: DTSTART, 1 January 2030 09:00, is no occurrence of the rule; the first is 2 January 2030 09:00",
		`{"recurrence": {"rrule": "DTSTART;TZID=Europe/Paris:20300331T023000 RRULE:FREQ=DAILY"}}`:           "",
		`{"startTime": "2030-01-01", "recurrence": {"rrule": "RRULE:FREQ=WEEKLY;BYDAY=MO"}}`:                "",
	} {
		p, err := planOf([]byte(job), instant(t, "2024-01-01"))
		if err != nil {
			t.Errorf("%s: %v", job, err)
			continue
		}
		var got []string
		for _, w := range p.Warnings() {
			got = append(got, w.Path+": "+w.Message)
		}
		if text := strings.Join(got, "\n"); text != want {
			t.Errorf("%s:\n got %s\nwant %s", job, text, want)
		}
	}
}
