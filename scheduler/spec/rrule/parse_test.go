package rrule

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
)

// TestParseRRuleForms writes the same set in the ways in which it may be written.
func TestParseRRuleForms(t *testing.T) {
	const plain = "DTSTART;TZID=America/New_York:20300115T120000\nRRULE:FREQ=WEEKLY;BYDAY=MO,WE;BYHOUR=9,17\nEXRULE:FREQ=YEARLY;BYMONTH=12"
	want := mustParse(t, plain, language.RFC5545)
	for _, text := range []string{
		strings.ReplaceAll(plain, "\n", "\r\n") + "\r\n",
		strings.ReplaceAll(plain, "\n", " "),
		"\t " + strings.ReplaceAll(plain, "\n", "\n\n  "),
		"EXRULE:FREQ=YEARLY;BYMONTH=12\nRRULE:FREQ=WEEKLY;BYDAY=MO,WE;BYHOUR=9,17\nDTSTART;TZID=America/New_York:20300115T120000",
		"DTSTART;TZID=America/New_York:20300115T120000\nFREQ=WEEKLY;BYDAY=MO,WE;BYHOUR=9,17\nEXRULE:FREQ=YEARLY;BYMONTH=12",
		"dtstart;tzid=America/New_York:20300115t120000\nrrule:freq=weekly;byday=mo,we;byhour=9,17\nexrule:freq=yearly;bymonth=12",
		"DTSTART;VALUE=DATE-TIME;TZID=\"America/New_York\":20300115T120000\nRRULE:BYHOUR=17,09,9;BYDAY=WE,MO,WE;FREQ=WEEKLY\nEXRULE:BYMONTH=12;FREQ=YEARLY",
		"DTSTART;TZID=America/New_York:2030\r\n 0115T120000\r\nRRULE:FREQ=WEEKLY;BY\r\n DAY=MO,WE;BYHOUR=9\r\n\t,17\r\nEX\r\n RULE:FREQ=YEARLY;BYMONTH=12\r\n",
	} {
		if got := mustParse(t, text, language.RFC5545); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", text, got, want)
		}
	}
}

// mustParse returns what a text says, without the places where it says it.
func mustParse(t *testing.T, text string, dialect language.Dialect) string {
	t.Helper()
	set, err := parseRuleSet(text, dialect)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return set.Describe(language.Context{})
}

func TestParseRRuleReads(t *testing.T) {
	text := "DTSTART:19700101T000000Z\nRRULE:FREQ=MONTHLY;INTERVAL=2;UNTIL=20300101T000000Z;WKST=SU;BYMONTH=2,1;" +
		"BYWEEKNO=-1,+1;BYYEARDAY=366;BYMONTHDAY=-31,1;BYDAY=-1FR,MO,2TU,SU,1MO;BYHOUR=0;BYMINUTE=59;BYSECOND=60;BYSETPOS=-366"
	rule := must.Get(Parse(text, language.RFC5545))(t)
	set := rule.(*Set)
	want := rrule{
		freq: freqMonthly, interval: 2, weekStart: time.Sunday,
		until:   rruleUntil{rruleTime: rruleTime{utc: true, at: 1_893_456_000}, given: true, column: 62},
		byMonth: []int{1, 2}, byWeekNo: []int{-1, 1}, byYearDay: []int{366}, byMonthDay: []int{-31, 1},
		byDay:  []nthDay{{0, time.Monday}, {1, time.Monday}, {2, time.Tuesday}, {-1, time.Friday}, {0, time.Sunday}},
		byHour: []int{0}, byMinute: []int{59}, bySecond: []int{60}, bySetPos: []int{-366},
		column: 32, text: text[31:],
	}
	unexported := cmp.AllowUnexported(rrule{}, rruleUntil{}, rruleTime{}, nthDay{})
	if diff := cmp.Diff(want, set.rules[0], unexported); diff != "" {
		t.Error(diff)
	}
	if !set.hasStart || set.start != 0 || set.zone != time.UTC || set.dateOnly {
		t.Errorf("start %v %d %v", set.hasStart, set.start, set.zone)
	}
}

// TestParseRRuleErrors shows what is said about mistakes.
func TestParseRRuleErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", `there is no rule; hint: a rule looks like RRULE:FREQ=DAILY;BYHOUR=9`},
		{"every 5 minutes", `column 1: "every" is not DTSTART:…, RRULE:… or EXRULE:…; hint: a rule looks like RRULE:FREQ=DAILY;BYHOUR=9`},
		{"*/5 * * * *", `column 1: "*/5" is not DTSTART:…, RRULE:… or EXRULE:…; hint: a cron expression belongs into recurrence.cron`},
		{"@daily", `column 1: "@daily" is not DTSTART:…, RRULE:… or EXRULE:…; hint: a cron expression belongs into recurrence.cron`},
		{"DTSTART:20240101T000000Z", `there is a DTSTART, but no RRULE; hint: add RRULE:FREQ=DAILY, or use startTime alone for a single run`},
		{"EXRULE:FREQ=DAILY", `there is an EXRULE, but no RRULE from which it could take something out`},
		{"RULE:FREQ=DAILY", `column 1: "RULE:FREQ=DAILY" is not DTSTART:…, RRULE:… or EXRULE:…; hint: did you mean RRULE?`},
		{"RRULE FREQ=DAILY", `column 1, RRULE: has no colon behind it; hint: write RRULE:… without blanks in it`},
		{"RRULE:", `column 7, RRULE: the rule is empty; hint: it looks like RRULE:FREQ=DAILY;BYHOUR=9, without blanks in it`},
		{"RRULE;X-A=1:FREQ=DAILY", `column 7, RRULE: parameter "X-A=1" is not allowed here`},
		{"RRULE:FREQ=DAILY;", `column 18, RRULE: a part is empty: there is a semicolon too many`},
		{"RRULE:FREQ=DAILY;COUNT", `column 18, RRULE: "COUNT" is not a part such as FREQ=DAILY`},
		{"RRULE:INTERVAL=2", `column 7, RRULE: FREQ is missing; hint: FREQ=DAILY is one of YEARLY, MONTHLY, WEEKLY, DAILY, HOURLY, MINUTELY, SECONDLY`},
		{"RRULE:FREQ=DAY", `column 12, RRULE part FREQ: "DAY" is not one of YEARLY, MONTHLY, WEEKLY, DAILY, HOURLY, MINUTELY, SECONDLY; hint: did you mean DAILY?`},
		{"RRULE:FREQ=DAILY;FREQ=WEEKLY", `column 18, RRULE part FREQ: stands in the rule again`},
		{"RRULE:FREQ=DAILY;INTERVAL=0", `column 27, RRULE part INTERVAL: "0" is not a whole number from 1 to 999999999; hint: INTERVAL=1 is every one`},
		{"RRULE:FREQ=DAILY;INTERVAL=1.5", `column 27, RRULE part INTERVAL: "1.5" is not a whole number from 1 to 999999999`},
		{"RRULE:FREQ=DAILY;COUNT=-1", `column 24, RRULE part COUNT: "-1" is not a whole number from 1 to 999999999`},
		{"RRULE:FREQ=DAILY;COUNT=", `column 24, RRULE part COUNT: has no value`},
		{"RRULE:FREQ=DAILY;UNTIL=2024-02-01", `column 24, RRULE part UNTIL: "2024-02-01" is not a date such as 20300115 or a time such as 20300115T120000; hint: write 20240201`},
		{"RRULE:FREQ=DAILY;UNTIL=20240230", `column 24, RRULE part UNTIL: "20240230" has day 30; that month has 01-29`},
		{"RRULE:FREQ=DAILY;UNTIL=20240201T0500", `column 24, RRULE part UNTIL: "20240201T0500" is not a date such as 20300115 or a time such as 20300115T120000`},
		{"RRULE:FREQ=WEEKLY;BYDAY=MONDAY", `column 25, RRULE part BYDAY: "MONDAY" is not one of MO, TU, WE, TH, FR, SA, SU, with or without a number from 1 to 53 or -53 to -1 before it; hint: did you mean MO?`},
		{"RRULE:FREQ=WEEKLY;BYDAY=MO-FR", `column 25, RRULE part BYDAY: "MO-FR" is not one of MO, TU, WE, TH, FR, SA, SU, with or without a number from 1 to 53 or -53 to -1 before it; hint: ranges are written out: MO,TU,WE`},
		{"RRULE:FREQ=DAILY;BYMONTHDAY=1,,32", "column 31, RRULE part BYMONTHDAY: an item of the list is empty: there is a comma too many\n" +
			`column 32, RRULE part BYMONTHDAY: "32" is not in 1-31 or, from the end, -31 to -1`},
		{"RRULE:FREQ=DAILY;BYHOUR=24", `column 25, RRULE part BYHOUR: "24" is not in 0-23; hint: midnight is 0`},
		{"RRULE:FREQ=DAILY;BYMINUTE=*/5", `column 27, RRULE part BYMINUTE: "*/5" is not in 0-59; hint: steps are written out, or are the rule's INTERVAL`},
		{"RRULE:FREQ=DAILY;BYSECOND=61", `column 27, RRULE part BYSECOND: "61" is not in 0-60`},
		{"RRULE:FREQ=YEARLY;BYMONTH=JUN", `column 27, RRULE part BYMONTH: "JUN" is not in 1-12; hint: months are numbers: 6`},
		{"RRULE:FREQ=YEARLY;BYEASTER=0", `column 19, RRULE part BYEASTER: there is no such part; hint: BYEASTER is not part of RFC 5545; the dialect dsari has it`},
		{"RRULE:FREQ=YEARLY;BYMONHT=3", `column 19, RRULE part BYMONHT: there is no such part; hint: did you mean BYMONTH?`},
		{"RRULE:FREQ=YEARLY;X-NOTE=3", `column 19, RRULE part X-NOTE: there is no such part; hint: parts of one's own are not supported; leave it out`},
		{"RRULE:FREQ=DAILY; BYDAY=MO", "column 18, RRULE: a part is empty: there is a semicolon too many\n" +
			`column 19: "BYDAY=MO" is not DTSTART:…, RRULE:… or EXRULE:…; hint: a rule has no blanks in it`},
		{"RRULE:FREQ=DAILY EXDATE:20240101", `column 25, EXDATE: "20240101" has no time; hint: write 20240101T000000, or EXDATE;VALUE=DATE:20240101`},
		{"RRULE:FREQ=DAILY RDATE;VALUE=DATE:20240101T090000", `column 35, RDATE: VALUE=DATE, but "20240101T090000" has a time`},
		{"RRULE:FREQ=DAILY RDATE;VALUE=PERIOD:20240101T090000Z/PT1H", `column 30, RDATE: VALUE is "PERIOD"; DATE and DATE-TIME are allowed` + "\n" +
			`column 37, RDATE: "20240101T090000Z/PT1H" is not a date such as 20300115 or a time such as 20300115T120000`},
		{"RRULE:FREQ=DAILY EXDATE;TZID=Europe/Berlin:20240101T090000,20240102T090000Z", `column 60, EXDATE: has a TZID and ends in Z; hint: leave one of them out`},
		{"RRULE:FREQ=DAILY RDATE;TZID=Mars/Base:20240101T090000", `column 29, RDATE: TZID "Mars/Base" is not a time zone of the IANA database`},
		{"RRULE:FREQ=DAILY RDATE:20240101T090000,,20240131T090000", `column 40, RDATE: "" is not a date such as 20300115 or a time such as 20300115T120000`},
		{"RRULE:FREQ=DAILY EXDATE:20240230T090000", `column 25, EXDATE: "20240230T090000" has day 30; that month has 01-29`},
		{"EXDATE:20240101T000000", `there is an EXDATE, but no RRULE from which it could take something out`},
		{"DTSTART:20240101 RRULE:FREQ=DAILY", `column 9, DTSTART: "20240101" has no time; hint: write 20240101T000000, or DTSTART;VALUE=DATE:20240101`},
		{"DTSTART;VALUE=DATE:20240101T000000 RRULE:FREQ=DAILY", `column 20, DTSTART: VALUE=DATE, but "20240101T000000" has a time`},
		{"DTSTART;TZID=America/New_York:20240101T000000Z RRULE:FREQ=DAILY", `column 31, DTSTART: has a TZID and ends in Z; hint: leave one of them out`},
		{"DTSTART;TZID=Mars/Olympus:20240101T000000 RRULE:FREQ=DAILY", `column 14, DTSTART: TZID "Mars/Olympus" is not a time zone of the IANA database`},
		{"DTSTART;TZID=America/New York:20240101T000000 RRULE:FREQ=DAILY", `column 1: "DTSTART;TZID=America/New" is not DTSTART:…, RRULE:… or EXRULE:…`},
		{"DTSTART;TZID=CST:20240101T000000 RRULE:FREQ=DAILY", `column 14, DTSTART: TZID "CST" is not a time zone of the IANA database; ` +
			`hint: Java reads it as America/Chicago, others as Asia/Shanghai or America/Havana: use the name of that zone`},
		{"DTSTART;TZID=eastern:20240101T000000 RRULE:FREQ=DAILY", `column 14, DTSTART: TZID "eastern" is not a time zone of the IANA database; hint: did you mean America/New_York?`},
		{"DTSTART;ZONE=UTC:20240101T000000 RRULE:FREQ=DAILY", `column 9, DTSTART: parameter "ZONE" is not TZID or VALUE`},
		{"DTSTART:20240101T000000+0200 RRULE:FREQ=DAILY", `column 9, DTSTART: "20240101T000000+0200" is not a date such as 20300115 or a time such as 20300115T120000; hint: an offset cannot be written: end UTC in Z, and name a zone with DTSTART;TZID=…`},
		{"DTSTART:20240101T000000Z DTSTART:20240101T000000Z RRULE:FREQ=DAILY", `column 26, DTSTART: stands here again; one is allowed`},
		{"DTSTART:20240101T000000Z RRULE:FREQ=DAILY;UNTIL=20240201T000000", `column 49, RRULE part UNTIL: is not in UTC, but DTSTART has a time zone: UNTIL must end in Z; hint: write 20240201T000000Z`},
		{"DTSTART;TZID=America/New_York:20240101T000000 RRULE:FREQ=DAILY;UNTIL=20240201T170000", `column 70, RRULE part UNTIL: is not in UTC, but DTSTART has a time zone: UNTIL must end in Z; hint: write 20240201T220000Z`},
		{"DTSTART:20240101T000000 RRULE:FREQ=DAILY;UNTIL=20240201T000000Z", `column 48, RRULE part UNTIL: is in UTC, but DTSTART has no time zone; hint: leave out the Z, or add one to DTSTART`},
		{"RRULE:FREQ=DÄILY;COUNT=0", "column 12, RRULE part FREQ: \"DÄILY\" is not one of YEARLY, MONTHLY, WEEKLY, DAILY, HOURLY, MINUTELY, SECONDLY; hint: did you mean DAILY?\n" +
			`column 24, RRULE part COUNT: "0" is not a whole number from 1 to 999999999`},
		{"RRULE:FREQ=DAILY;BYWEEKDAY=MO", `column 18, RRULE part BYWEEKDAY: there is no such part; hint: did you mean BYDAY?`},
		{"RRULE:FREQ=DAILY;RSCALE=HEBREW", `column 18, RRULE part RSCALE: there is no such part; hint: the extensions of RFC 7529 are not supported`},
		{"RRULE:FREQ=DAILY;TZID=UTC", `column 18, RRULE part TZID: there is no such part; hint: write DTSTART;TZID=America/New_York:20300115T120000 before the rule, as a separate property`},
		{"RRULE:FREQ=WEEKLY;BYDAY=FR(-1)", `column 25, RRULE part BYDAY: "FR(-1)" is not one of MO, TU, WE, TH, FR, SA, SU, with or without a number from 1 to 53 or -53 to -1 before it; hint: the number stands before the day: -1FR`},
		{"RRULE:FREQ=MONTHLY;BYMONTHDAY=L,1-5", `column 31, RRULE part BYMONTHDAY: "L" is not in 1-31 or, from the end, -31 to -1; hint: the last one is -1` + "\n" +
			`column 33, RRULE part BYMONTHDAY: "1-5" is not in 1-31 or, from the end, -31 to -1; hint: ranges are written out: 1,2,3`},
		{"RRULE:FREQ=DAILY;WKST=SUNDAY", `column 23, RRULE part WKST: "SUNDAY" is not one of MO, TU, WE, TH, FR, SA, SU; hint: did you mean SU?`},
		{"DTSTART;TZID;TZID=UTC;TZID=UTC;VALUE=PERIOD:20240101T000000 RRULE:FREQ=DAILY", `column 9, DTSTART: parameter "TZID" has no value` + "\n" +
			`column 23, DTSTART: parameter TZID stands here again` + "\n" +
			`column 38, DTSTART: VALUE is "PERIOD"; DATE and DATE-TIME are allowed`},
		{"DTSTART:00000101T000000Z RRULE:FREQ=DAILY", `column 9, DTSTART: "00000101T000000Z" has no year: years count from 0001`},
		{"DTSTART:20241301T000000Z RRULE:FREQ=DAILY", `column 9, DTSTART: "20241301T000000Z" has month 13; months are 01-12`},
		{"DTSTART:20240101T240000Z RRULE:FREQ=DAILY", `column 9, DTSTART: "20240101T240000Z" has hour 24; hours are 00-23`},
		{"DTSTART:20240101T006000Z RRULE:FREQ=DAILY", `column 9, DTSTART: "20240101T006000Z" has minute 60; minutes are 00-59`},
		{"DTSTART:20240101T000060Z RRULE:FREQ=DAILY", `column 9, DTSTART: "20240101T000060Z" has second 60; seconds are 00-59`},
		{"DTSTART;TZID=America/New_York:20240101T000000 RRULE:FREQ=DAILY;UNTIL=20240201", `column 70, RRULE part UNTIL: is not in UTC, but DTSTART has a time zone: UNTIL must end in Z; hint: write 20240202T045959Z`},
		{"RRULE:FREQ=averylongfrequencythatnobodywouldeverwritedown", `column 12, RRULE part FREQ: "averylongfrequencythatnobodywouldeverwri…" is not one of YEARLY, MONTHLY, WEEKLY, DAILY, HOURLY, MINUTELY, SECONDLY`},
		{"RRULE:FREQ=DAILY;INTERVAL=1000000000", `column 27, RRULE part INTERVAL: "1000000000" is not a whole number from 1 to 999999999`},
		{strings.Repeat("RRULE:FREQ=DAILY ", 65), `column 1095: more than 64 rules`},
		{strings.Repeat(" ", 20_000), `the text has 20000 bytes; at most 16384 are allowed`},
	} {
		_, err := Parse(test.text, language.RFC5545)
		if err == nil || err.Error() != test.want {
			t.Errorf("%q\n got %v\nwant %s", test.text, err, test.want)
		}
	}
}

func TestParseRRuleAccepts(t *testing.T) {
	for _, test := range []struct {
		text    string
		dialect language.Dialect
	}{
		{"RRULE:FREQ=DAILY;UNTIL=20240201T000000Z", language.RFC5545}, // the job's startTime stands for DTSTART
		{"RRULE:FREQ=DAILY;UNTIL=20240201T000000", language.RFC5545},
		{"RRULE:FREQ=DAILY;UNTIL=20240201", language.RFC5545},
		{"DTSTART;VALUE=DATE:20240101 RRULE:FREQ=DAILY;UNTIL=20240201", language.RFC5545},
		{"DTSTART:20240101T000000 RRULE:FREQ=DAILY;UNTIL=20240201", language.RFC5545},
		{"INTERVAL=2;FREQ=DAILY", language.RFC5545},
		{"FREQ=DAILY", language.Dsari},
		{"RRULE:FREQ=HOURLY;UNTIL=20181225T080000", language.Dsari},
		{"RRULE:FREQ=HOURLY;UNTIL=20181225T080000Z", language.Dsari},
		{"RRULE:FREQ=WEEKLY;BYMONTHDAY=1,15;BYYEARDAY=3;BYDAY=2MO;BYSETPOS=1;COUNT=3", language.RFC5545},
		{"RRULE:FREQ=WEEKLY;COUNT=3 RRULE:FREQ=DAILY;UNTIL=20300101T000000Z", language.RFC5545},
	} {
		if _, err := Parse(test.text, test.dialect); err != nil {
			t.Errorf("%s %q: %v", test.dialect, test.text, err)
		}
	}
}

// TestCountWithUntilIsRefused shows the one MUST NOT of RFC 5545, section 3.3.10.
func TestCountWithUntilIsRefused(t *testing.T) {
	const text = "DTSTART:20240101T000000Z RRULE:FREQ=DAILY;COUNT=30;UNTIL=20240103T000000Z"
	_, err := Parse(text, language.RFC5545)
	const want = "column 58, RRULE part UNTIL: excludes COUNT (RFC 5545, section 3.3.10); hint: leave one of them out; " +
		"the job's recurrence.endTime or recurrence.count can do its work"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if _, err := Parse("DTSTART:20240101T000000Z RRULE:FREQ=DAILY EXRULE:FREQ=DAILY;COUNT=3;UNTIL=20240103T000000Z", language.RFC5545); err == nil {
		t.Error("an EXRULE with both is accepted")
	}
}

func TestDsariRRuleRefusesCOUNT(t *testing.T) {
	_, err := Parse("RRULE:FREQ=DAILY;COUNT=3", language.Dsari)
	if want := "column 18, RRULE part COUNT: dsari has no COUNT; hint: end the rule with UNTIL"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// FuzzParseRRule checks of any text that it is either refused, at a place in it and with a reason, or compiled and
// described.
func FuzzParseRRule(f *testing.F) {
	dialects := []language.Dialect{language.RFC5545, language.AWX, language.Dsari}
	for i := range dialects {
		f.Add(uint8(i), "DTSTART;TZID=America/New_York:20300115T120000 RRULE:FREQ=DAILY;INTERVAL=1;COUNT=7")
		f.Add(uint8(i), "RRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1\r\nEXRULE:FREQ=YEARLY;BYMONTH=12;UNTIL=20300101T000000Z")
		f.Add(uint8(i), "FREQ=SECONDLY;INTERVAL=999999999;BYYEARDAY=-366;BYWEEKNO=53;BYMINUTE=59;BYSECOND=60;WKST=SU")
		f.Add(uint8(i), "DTSTART;VALUE=DATE;TZID=\"Europe/Köln\":00010101\n FREQ=;BYDAY=+1MO,0TU;;X-Ä=1")
	}
	f.Fuzz(func(t *testing.T, dialect uint8, text string) {
		name := dialects[int(dialect)%len(dialects)]
		rule, err := Parse(text, name)
		if err != nil {
			checkSyntaxErrors(t, text, err)
			return
		}
		setting := language.Context{Name: "job", Start: time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)}
		if rule.Describe(setting) == "" || !utf8.ValidString(rule.Describe(setting)) {
			t.Errorf("%q has no description", text)
		}
		s, err := rule.Compile(setting)
		if err != nil {
			checkSyntaxErrors(t, text, err)
			return
		}
		at, ok := s.Next(time.Time{})
		for range 100 {
			next, more := s.Next(at)
			if !ok {
				break
			}
			if more && !next.After(at) {
				t.Fatalf("%q: %v comes after %v", text, next, at)
			}
			at, ok = next, more
		}
	})
}

// checkSyntaxErrors checks that an error has a place in the text and a reason, wherever it is told.
func checkSyntaxErrors(t *testing.T, text string, err error) {
	t.Helper()
	list := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list = joined.Unwrap()
	}
	for _, err := range list {
		syntax, ok := errors.AsType[*language.SyntaxError](err)
		if !ok || syntax.Message == "" || syntax.Column < 0 || syntax.Column > utf8.RuneCountInString(text)+1 {
			t.Errorf("%q: %#v", text, err)
		}
	}
}
