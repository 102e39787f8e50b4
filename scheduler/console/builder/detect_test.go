package builder

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// TestDetect pastes what people have.
func TestDetect(t *testing.T) {
	for _, test := range []struct{ text, when, want string }{ // want: the members that follow
		{"0 9 * * MON-FRI", choiceCron, `{"recurrence":{"cron":"0 9 * * MON-FRI"}}`},
		{"  */5 * * * * /usr/bin/backup --all >/dev/null 2>&1\n", choiceCron, `{"recurrence":{"cron":"*/5 * * * *"}}`},
		{"30 2 * * 7 root run-parts /etc/cron.weekly", choiceCron, `{"recurrence":{"cron":"30 2 * * 7"}}`},
		{"15 5,17 * * 3#3 * America/New_York", choiceCron, `{"recurrence":{"cron":"15 5,17 * * 3#3 * America/New_York"}}`},
		{"0 9 * * MON; 0 14 * * THU", choiceCron, `{"recurrence":{"cron":"0 9 * * MON; 0 14 * * THU"}}`},
		{"- cron: '0 4 * * 1'", choiceCron, `{"recurrence":{"cron":"0 4 * * 1"}}`},
		{`schedule: "0 4 * * 1"`, choiceCron, `{"recurrence":{"cron":"0 4 * * 1"}}`},
		{"H H(0-7) * * *", choiceCron, `{"recurrence":{"dialect":"dsari","cron":"H H(0-7) * * *"}}`},
		{"H/15 * * * *", choiceCron, `{"recurrence":{"dialect":"dsari","cron":"H/15 * * * *"}}`},
		{"@daily", choiceCron, `{"recurrence":{"cron":"@daily"}}`},
		{"@hourly /bin/true", choiceCron, `{"recurrence":{"cron":"@hourly"}}`},
		{"@recur 2 weeks 2026-01-05 08:00", choiceCron, `{"recurrence":{"cron":"@recur 2 weeks 2026-01-05 08:00"}}`},
		{"RRULE:FREQ=DAILY;BYHOUR=9", choiceRRule, `{"recurrence":{"rrule":"RRULE:FREQ=DAILY;BYHOUR=9"}}`},
		{"FREQ=DAILY;BYHOUR=9", choiceRRule, `{"recurrence":{"rrule":"FREQ=DAILY;BYHOUR=9"}}`},
		{"DTSTART;TZID=Europe/Berlin:20260101T090000\r\nRRULE:FREQ=DAILY", choiceRRule, `{"recurrence":{"rrule":"DTSTART;TZID=Europe/Berlin:20260101T090000\nRRULE:FREQ=DAILY"}}`},
		{"BEGIN:VCALENDAR\nBEGIN:VTIMEZONE\nDTSTART:19700101T000000\nEND:VTIMEZONE\nBEGIN:VEVENT\nSUMMARY:x\nDTSTART:20260101T090000Z\nRRULE:FREQ=DAI\n LY\nEND:VEVENT\nEND:VCALENDAR", choiceRRule, `{"recurrence":{"rrule":"DTSTART:20260101T090000Z\nRRULE:FREQ=DAILY"}}`},
		{`{"frequency": "week", "schedule": {"weekDays": ["friday"], "hours": [18]}}`, choiceAzure, `{"recurrence":{"frequency":"week","schedule":{"hours":[18],"weekDays":["friday"]}}}`},
		{`{"properties": {"recurrence": {"cron": "0 9 * * *"}, "timeZone": "Asia/Tokyo"}}`, choiceDaily, `{"recurrence":{"cron":"0 9 * * *"},"timeZone":"Asia/Tokyo"}`},
		{"BEGIN:VEVENT\nDTSTART:20260101T090000Z\nRRULE:FREQ=DAILY\nEXDATE:20260102T090000Z\nRDATE:20260102T\n 100000Z\nEND:VEVENT", choiceRRule, `{"recurrence":{"rrule":"DTSTART:20260101T090000Z\nRRULE:FREQ=DAILY\nEXDATE:20260102T090000Z\nRDATE:20260102T100000Z"}}`},
		{`{"rrule": "RRULE:FREQ=DAILY", "dialect": "dsari"}`, choiceRRule, `{"recurrence":{"dialect":"dsari","rrule":"RRULE:FREQ=DAILY"}}`},
		{"every 5 minutes", choiceEvery, `{"recurrence":{"frequency":"minute","interval":5}}`},
		{"Every hour", choiceEvery, `{"recurrence":{"frequency":"hour"}}`},
		{"@every 30s", choiceEvery, `{"recurrence":{"frequency":"second","interval":30}}`},
		{"rate(2 hours)", choiceEvery, `{"recurrence":{"frequency":"hour","interval":2}}`},
		{"PT15M", choiceEvery, `{"recurrence":{"frequency":"minute","interval":15}}`},
		{"P2W", choiceEvery, `{"recurrence":{"frequency":"week","interval":2}}`},
		{"P3M", choiceEvery, `{"recurrence":{"frequency":"month","interval":3}}`},
		{"9:00", choiceDaily, `{"recurrence":{"cron":"0 9 * * *"}}`},
		{"9am, 5 pm", choiceDaily, `{"recurrence":{"cron":"0 9,17 * * *"}}`},
		{"@every 1h30m", choiceEvery, `{"recurrence":{"frequency":"minute","interval":90}}`},
		{"@every 90s", choiceEvery, `{"recurrence":{"frequency":"second","interval":90}}`},
		{"# nightly\n\n0 4 * * 1 root /bin/true\n", choiceCron, `{"recurrence":{"cron":"0 4 * * 1"}}`},
		{"CRON_TZ=Asia/Tokyo 0 4 * * 1", choiceCron, `{"recurrence":{"cron":"0 4 * * 1"},"timeZone":"Asia/Tokyo"}`},
		{"TZ=\"Asia/Tokyo\"\n0 4 * * 1 x", choiceCron, `{"recurrence":{"cron":"0 4 * * 1"},"timeZone":"Asia/Tokyo"}`},
		{"0 0 12 * * ?", choiceCron, `{"recurrence":{"cron":"0 12 * * *"}}`},
		{"0 0/5 14 ? * 2-6", choiceCron, `{"recurrence":{"cron":"0/5 14 * * MON-FRI"}}`},
		{"0 15 10 ? * 6#3 2030", choiceCron, `{"recurrence":{"cron":"15 10 * * FRI#3 2030"}}`},
		{"0 15 10 ? * 6L *", choiceCron, `{"recurrence":{"cron":"15 10 * * FRIL"}}`},
		{"0 0 9 ? * MON-FRI", choiceCron, `{"recurrence":{"cron":"0 9 * * MON-FRI"}}`},
		{"cron(0 12 * * ? *)", choiceCron, `{"recurrence":{"cron":"0 12 * * *"}}`},
		{"cron(0 18 ? * 2,7 2031)", choiceCron, `{"recurrence":{"cron":"0 18 * * MON,SAT 2031"}}`},
		{"recurrence:\n  cron: 0 9 * * MON\ntimeZone: Asia/Tokyo\n", choiceWeekly, `{"recurrence":{"cron":"0 9 * * MON"},"timeZone":"Asia/Tokyo"}`},
		{"frequency: hour\ninterval: 6\nanchor: lastExecution", choiceAzure, `{"recurrence":{"frequency":"hour","interval":6,"anchor":"lastExecution"}}`},
		{"daily at 9:00", choiceDaily, `{"recurrence":{"cron":"0 9 * * *"}}`},
		{"noon", choiceDaily, `{"recurrence":{"cron":"0 12 * * *"}}`},
		{"weekdays at 9 and 17", choiceWeekdays, `{"recurrence":{"cron":"0 9,17 * * MON-FRI"}}`},
		{"Every Monday and Friday at 10am", choiceWeekly, `{"recurrence":{"cron":"0 10 * * MON,FRI"}}`},
		{"Mon-Wed, Saturday 9:00", choiceWeekly, `{"recurrence":{"cron":"0 9 * * MON-WED,SAT"}}`},
		{"sat to mon at 6pm", choiceWeekly, `{"recurrence":{"cron":"0 18 * * MON,SAT,SUN"}}`},
		{"monthly", choiceMonthly, `{"recurrence":{"cron":"0 0 1 * *"}}`},
		{"hourly", choiceEvery, `{"recurrence":{"frequency":"hour"}}`},
		{"2030-03-01", choiceOnce, `{"startTime":"2030-03-01T00:00:00Z"}`},
		{"2030-03-01T09:00:00+01:00", choiceOnce, `{"startTime":"2030-03-01T09:00:00+01:00"}`},
	} {
		values := typed(t, "when=daily&plain.times=7:00")
		values.Set(Prefix+"paste", test.text)
		s := Read(values)
		if got := membersOf(t, s); got != test.want || s.Form.When() != test.when || len(s.Problems) > 0 || s.Form.Value("paste") != "" {
			t.Errorf("%q:\n got %s %s %v\nwant %s %s", test.text, s.Form.When(), got, s.Problems, test.when, test.want)
		}
	}
}

// TestDetectMistakes pastes cron with a mistake: it is taken for cron, and the mistake is told where it is.
func TestDetectMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"0 9 * * MUN":   "did you mean",
		"0 9 * JAM MON": "JAM",
		"0 99 * * *":    "99",
	} {
		values := typed(t, "when=daily&plain.times=7:00")
		values.Set(Prefix+"paste", text)
		s := Read(values)
		o := must.Get(s.Look(t.Context(), control.Previewer{}, "", time.UTC))(t)
		wrong := s.Form.Wrong("recurrence.cron")
		if s.Form.When() != choiceCron || len(wrong) != 1 || !strings.Contains(wrong[0].Text, want) || len(o.Runs) > 0 {
			t.Errorf("%q: %s %v %+v", text, s.Form.When(), wrong, o)
		}
	}
}

// TestHashesNeedAName has hashes of a job that has no name: the times that are shown are not those it gets, and it is told.
func TestHashesNeedAName(t *testing.T) {
	for _, test := range []struct {
		cron, dialect, name string
		told                bool
	}{
		{"H H(0-5) * * MON", "dsari", "", true},
		{"H H(0-5) * * MON", "dsari", "report", false},
		{"0 9 * * *", "dsari", "", false},
		{"0 9 * * THU", "obsidian", "", false},
	} {
		s := Read(typed(t, url.Values{"when": {"cron"}, "recurrence.cron": {test.cron}, "cron.dialect": {test.dialect}}.Encode()))
		o, err := s.Look(t.Context(), control.Previewer{}, test.name, time.UTC)
		if err != nil || len(o.Runs) == 0 {
			t.Fatal(o, err)
		}
		if told := slices.Contains(o.Notes, words.Text("builder.nameless")); told != test.told {
			t.Errorf("%+v: %q", test, o.Notes)
		}
	}
}

// TestDetectNothing pastes what is no schedule.
func TestDetectNothing(t *testing.T) {
	for _, text := range []string{
		"", " ", "hello", "0 9 *", "{", "{}", `{"a": 1}`, `{"recurrence": 5}`, "[1, 2]", "every 0 minutes", "-", "''", ":", "::::", ";;;;;",
		"the quick brown fox jumps", "monkey at 9", "hourly at 9", "0 or 1 is more", "every moonday", "recurrence: [", "recurrence: 5", "cron(0 12 * *)", "TZ=Asia/Tokyo",
		strings.Repeat("0 9 * * * ; ", 5000),
	} {
		if values, ok := Detect(text); ok {
			t.Errorf("%.40q: %v", text, values)
		}
	}
}

// hostile is what somebody types who means no good.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "\x00\x01\xff", "\u202e9:00", strings.Repeat("9:00,", 20000),
	strings.Repeat("{", 10000), strings.Repeat("* * * * * * Europe/Berlin; ", 500) + "* * * * *", strings.Repeat("0 ", 8000),
	"DTSTART:20000101T000000Z " + strings.Repeat("RRULE:FREQ=SECONDLY;INTERVAL=86399 EXRULE:FREQ=SECONDLY ", 100),
	"BEGIN:VEVENT\n:::\n;\nDTSTART", strings.Repeat("every 1 ", 2000), "99999999999999999999", "every 99999999999999999999 minutes", "P99999999999999999999D",
}

// FuzzRead types and pastes anything: it ends soon, and whatever the fields show of what they mean, means the same.
func FuzzRead(f *testing.F) {
	for _, text := range append(hostile, "0 9 * * *", "RRULE:FREQ=DAILY", "9:00") {
		f.Add(text, choiceDaily)
		f.Add(text, choiceCron)
		f.Add(text, choiceAzure)
	}
	f.Fuzz(func(t *testing.T, text, when string) {
		values := typed(t, "when=x")
		values.Set(Prefix+"when", when)
		for _, name := range []string{"plain.month", "plain.unit", "plain.on", "plain.weekday"} {
			values.Set(Prefix+name, text)
		}
		for _, d := range fields[1:] {
			values.Set(Prefix+d.Name, text)
		}
		for _, pasted := range []string{text, ""} {
			values.Set(Prefix+"paste", pasted)
			s := Read(values)
			if len(s.Problems) > 0 {
				continue
			}
			again := Read(all(fieldsOf(t, membersOf(t, s))))
			if got, want := membersOf(t, again), membersOf(t, s); !strings.EqualFold(got, want) && !s.OnRequest {
				t.Errorf("%q: %s, want %s", text, got, want)
			}
		}
	})
}

// TestHostile types what would take for ever, or be taken for markup: each answer comes in a bounded time.
func TestHostile(t *testing.T) {
	for _, text := range hostile {
		for _, when := range append(plainChoices, languages...) {
			values := typed(t, "when="+when)
			for _, d := range fields {
				if d.Name != "when" && d.Name != "paste" {
					values.Set(Prefix+d.Name, text)
				}
			}
			begun := time.Now()
			s := Read(values)
			if _, err := s.Look(t.Context(), control.Previewer{}, text, time.UTC); err != nil {
				t.Errorf("%s %.40q: %v", when, text, err)
			}
			if took := time.Since(begun); took > 5*time.Second { // of what takes some hundredths of a second
				t.Errorf("%s %.40q: %s", when, text, took)
			}
		}
	}
}
