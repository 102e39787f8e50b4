package rrule

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/spectest"
)

// awxRow is a row of awx.jsonl. Where AWX shows the words in which Python stumbled, its errors are in errors_of_awx, and
// errors has the sentences that stand for them here.
type awxRow struct {
	ID, RRule, Expected string
	Now                 time.Time
	Errors              []string
	Preview             struct{ Local, UTC []string }
}

func TestAWXVectors(t *testing.T) {
	for _, row := range spectest.Rows[awxRow](t, "../testdata/awx.jsonl") {
		_, err := Parse(row.RRule, language.AWX)
		if accepted := err == nil; accepted != (row.Expected == "accept") {
			t.Errorf("%s: %q: error %v, expected %s", row.ID, row.RRule, err, row.Expected)
			continue
		}
		if err == nil {
			continue
		}
		if row.Errors != nil {
			checkAWXMessages(t, row.ID+" "+row.RRule, err, row.Errors)
		}
	}
}

// TestAWXShowsNoPython looks for the internals of a program in whatever is said about a wrong text.
func TestAWXShowsNoPython(t *testing.T) {
	python := regexp.MustCompile(`NoneType|__|unpack|positional|object|attribute|self|\(expected`)
	for _, rule := range []string{
		"", "X", "FREQ", "FREQ=", "FREQ=DAILY", "FREQ=DAILY;INTERVAL", "FREQ=DAILY;INTERVAL=1;UNTIL", "FREQ=DAILY;INTERVAL=1;UNTIL=",
		"FREQ=DAILY;INTERVAL=1;UNTIL=20300310", "FREQ=DAILY;INTERVAL=1;UNTIL=x", "INTERVAL=1", "FREQ=DAILY;INTERVAL=1;;", "A=B=C;INTERVAL=1",
		"FREQ=DAILY;INTERVAL=1:X:Y", "FREQ=DAILY;INTERVAL=1 HELLO", "FREQ=DAILY;INTERVAL=1;BYDAY=", "FREQ=DAILY;INTERVAL=1;WKST=",
	} {
		_, err := Parse("DTSTART:20300308T050000Z RRULE:"+rule, language.AWX)
		if err == nil {
			t.Errorf("%q is accepted", rule)
			continue
		}
		if found := python.FindString(err.Error()); found != "" {
			t.Errorf("%q: %v", rule, err)
		}
	}
}

// TestAWXMessages shows what AWX says, all of it and in its order.
func TestAWXMessages(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
	}{
		{"", []string{"This field may not be blank."}},
		{" \n", []string{"This field may not be blank."}},
		{"DTSTART:NONSENSE", []string{
			"Valid DTSTART required in rrule. Value should start with: DTSTART:YYYYMMDDTHHMMSSZ",
			"One or more rule required in rrule.",
			"rrule parsing failed validation: Unknown string format: NONSENSE",
		}},
		{"DTSTART:20300308T050000 RRULE:FREQ=DAILY;INTERVAL=1", []string{
			"DTSTART cannot be a naive datetime.  Specify ;TZINFO= or YYYYMMDDTHHMMSSZZ.",
			"rrule parsing failed validation: A valid TZID must be provided (e.g., America/New_York)",
		}},
		{"DTSTART:20300308T050000Z DTSTART:20310308T050000", []string{
			"Multiple DTSTART is not supported.",
			"One or more rule required in rrule.",
		}},
		{"DTSTART:20300308T050000Z", []string{
			"One or more rule required in rrule.",
		}},
		{"DTSTART:20300308T050000Z RRULE:FREQ=MONTHLY;INTERVAL=1; EXDATE:20220401", []string{
			"EXDATE not allowed in rrule.",
		}},
		{"RDATE:20220401", []string{
			"RDATE not allowed in rrule.",
		}},
		{"DTSTART:20300308T050000Z RRULE:FREQ=SECONDLY;INTERVAL=5;COUNT=6", []string{
			"SECONDLY is not supported: RULE:FREQ=SECONDLY;INTERVAL=5;COUNT=6",
		}},
		{"DTSTART:NONSENSE RRULE:NONSENSE RRULE:FREQ=MONTHLY;INTERVAL=1;BYMONTHDAY=3,4", []string{
			"Valid DTSTART required in rrule. Value should start with: DTSTART:YYYYMMDDTHHMMSSZ",
			"INTERVAL required in rrule: RULE:NONSENSE",
			"rrule parsing failed validation: Unknown string format: NONSENSE",
		}},
		{"DTSTART:20300230T050000Z RRULE:FREQ=DAILY;INTERVAL=1", []string{
			"rrule parsing failed validation: day is out of range for month: 20300230T050000Z",
		}},
		{"DTSTART:20301308T050000Z RRULE:FREQ=DAILY;INTERVAL=1", []string{
			"rrule parsing failed validation: month must be in 1..12: 20301308T050000Z",
		}},
		{"DTSTART:20300308T250000Z RRULE:FREQ=DAILY;INTERVAL=1", []string{
			"rrule parsing failed validation: hour must be in 0..23: 20300308T250000Z",
		}},
		{"DTSTART:20300308T050000Z RRULE:INTERVAL=1", []string{
			"rrule parsing failed validation: FREQ is missing",
		}},
		{"DTSTART:20300308T050000Z RRULE:FREQ=DAILY;INTERVAL=x", []string{
			"rrule parsing failed validation: invalid 'INTERVAL': X",
		}},
		{"DTSTART:20300308T050000Z RRULE:FREQ=DAILY;INTERVAL=1;BYDAY=XX", []string{
			"rrule parsing failed validation: invalid 'BYDAY': XX",
		}},
		{"DTSTART:20300308T050000Z RRULE:FREQ=DAILY;INTERVAL=1;UNTIL=20301341T050000Z", []string{
			"rrule parsing failed validation: invalid 'UNTIL': 20301341T050000Z",
		}},
		{"DTSTART:20300308T050000Z RRULE:FREQ=DAILY;INTERVAL=1;UNTIL=yesterday", []string{
			"rrule parsing failed validation: UNTIL must be a time such as 20300115T120000Z",
		}},
		{"DTSTART:20300308T050000Z RRULE:FREQ=DAILY;INTERVAL=1;A=B=C", []string{
			"rrule parsing failed validation: a part of a rule has one \"=\", and a rule no \":\" after RRULE:",
		}},
		{"DTSTART:20300308T050000Z RRULE:FREQ=DAILY;INTERVAL=1;BYHOUR=24", []string{
			"rrule parsing failed validation: hour must be in 0..23",
		}},
		{"DTSTART:20300308T050000Z RRULE:FREQ=HOURLY;INTERVAL=4;BYHOUR=2", []string{
			"rrule parsing failed validation: Invalid rrule byxxx generates an empty set.",
		}},
		{"DTSTART:20300308T050000Z RRULE:FREQ=DAILY;INTERVAL=1;BYSETPOS=0", []string{
			"rrule parsing failed validation: bysetpos must be between 1 and 366, or between -366 and -1",
		}},
		{"DTSTART;X=1:20300308T050000Z RRULE:FREQ=DAILY;INTERVAL=1", []string{
			"rrule parsing failed validation: unsupported parm: X=1",
		}},
		{"DTSTART:20300308T050000Z RRULE;X=1:FREQ=DAILY;INTERVAL=1", []string{
			"One or more rule required in rrule.",
			"rrule parsing failed validation: unsupported RRULE parm: X=1",
		}},
		{"DTSTART:20300308T050000Z HELLO:1 RRULE:FREQ=DAILY;INTERVAL=1", []string{
			"rrule parsing failed validation: unsupported property: HELLO",
		}},
		{"dtstart:20300308T050000Z RRULE:FREQ=DAILY;INTERVAL=1", []string{
			"Valid DTSTART required in rrule. Value should start with: DTSTART:YYYYMMDDTHHMMSSZ",
		}},
		{"DTSTART;TZID=JST:20300308T050000 RRULE:FREQ=DAILY;INTERVAL=1", []string{ // a zone of Java, but none of AWX
			"rrule parsing failed validation: A valid TZID must be provided (e.g., America/New_York)",
		}},
		{"DTSTART;tzid=America/New_York:20300308T050000 RRULE:FREQ=DAILY;INTERVAL=1", []string{
			"rrule parsing failed validation: A valid TZID must be provided (e.g., America/New_York)",
		}},
		{"DTSTART:20300308T050000Z RRULE:FREQ=DAILY;INTERVAL=1;COUNT=1000;BYDAY=2MO EXRULE:FREQ=SECONDLY;INTERVAL=1", []string{
			"BYDAY with numeric prefix not supported: RULE:FREQ=DAILY;INTERVAL=1;COUNT=1000;BYDAY=2MO",
			"COUNT > 999 is unsupported: RULE:FREQ=DAILY;INTERVAL=1;COUNT=1000;BYDAY=2MO",
			"SECONDLY is not supported: RULE:FREQ=SECONDLY;INTERVAL=1",
		}},
	} {
		_, err := Parse(test.text, language.AWX)
		checkAWXMessages(t, test.text, err, test.want)
	}
}

// TestAWXDocument shows what AWX's document forbids and its code lets through.
func TestAWXDocument(t *testing.T) {
	const noStart = "Valid DTSTART required in rrule. Value should start with: DTSTART:YYYYMMDDTHHMMSSZ"
	for text, want := range map[string]string{
		"RRULE:FREQ=DAILY;INTERVAL=1 DTSTART:20300308T050000Z":                                 noStart,
		"DTSTART:20300308T050000+0500 RRULE:FREQ=DAILY;INTERVAL=1":                             noStart,
		"DTSTART:20300308T050000Z rrule:freq=daily":                                            "INTERVAL required in rrule: rule:freq=daily",
		"DTSTART:20300308T050000Z RRULE:FREQ=MONTHLY;INTERVAL=1;BYDAY=MO,-1FR":                 "BYDAY with numeric prefix not supported: RULE:FREQ=MONTHLY;INTERVAL=1;BYDAY=MO,-1FR",
		"DTSTART:20300308T050000Z RRULE:FREQ=DAILY;INTERVAL=1;count=1000":                      "COUNT > 999 is unsupported: RULE:FREQ=DAILY;INTERVAL=1;count=1000",
		"DTSTART:20300308T050000Z RRULE:FREQ=DAILY;INTERVAL=1 RDATE;VALUE=DATE-TIME:20300401":  "RDATE not allowed in rrule.",
		"DTSTART:20300308T050000Z RRULE:FREQ=DAILY;INTERVAL=1;UNTIL=20300401T050000":           awxFailed + awxUntilKind,
		"DTSTART:20300308T050000Z RRULE:FREQ=DAILY;INTERVAL=0":                                 awxFailed + `RRULE part INTERVAL "0" is not a whole number from 1 to 999999999`,
		"DTSTART:20300308T050000Z RRULE:FREQ=DAILY;INTERVAL=1;BYMONTH=13":                      awxFailed + `RRULE part BYMONTH "13" is not in 1-12`,
		"DTSTART:20300308T050000Z RRULE:FREQ=DAILY;INTERVAL=1 FREQ=WEEKLY;INTERVAL=1;BYDAY=MO": awxFailed + `"FREQ=WEEKLY;INTERVAL=1;BYDAY=MO" has no name`,
	} {
		_, err := Parse(text, language.AWX)
		checkAWXMessages(t, text, err, []string{want})
	}
}

func checkAWXMessages(t *testing.T, text string, err error, want []string) {
	t.Helper()
	reasons, ok := errors.AsType[AWXErrors](err)
	if !ok || !slices.Equal(reasons.Messages(), want) {
		t.Errorf("%q\n got %v\nwant %s", text, err, strings.Join(want, "\n"))
	}
}

// TestAWXUntilWithoutSeconds reads the one form of UNTIL without UTC that AWX's own tests depend on.
func TestAWXUntilWithoutSeconds(t *testing.T) {
	set := must.Get(parseRuleSet("DTSTART;TZID=America/New_York:20300302T150000 RRULE:FREQ=DAILY;INTERVAL=1;UNTIL=20300304T1500", language.AWX))(t)
	if until := set.rules[0].until; until.utc || time.Unix(int64(until.at), 0).UTC().Format(time.DateTime) != "2030-03-04 15:00:00" {
		t.Errorf("%+v", until)
	}
}
