package builder

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// typed makes a form of "name=value" pairs, without the prefix of names.
func typed(tb testing.TB, query string) url.Values {
	tb.Helper()
	short := must.Get(url.ParseQuery(query))(tb)
	values := url.Values{}
	for name, v := range short {
		values[Prefix+name] = v
	}
	return values
}

// membersOf writes the members that were read, in the order of their names.
func membersOf(tb testing.TB, s Schedule) string {
	tb.Helper()
	data := must.Get(json.Marshal(s.Members))(tb)
	return string(data)
}

// plainRow is what somebody chooses, what it becomes, and when that runs from 1 January 2000 on, a Saturday.
type plainRow struct{ name, query, members, runs string }

var plainRows = []plainRow{
	{"every 5 minutes", "when=every&plain.n=5&plain.unit=minute", `{"recurrence":{"frequency":"minute","interval":5}}`, "01-01 00:00, 01-01 00:05, 01-01 00:10, 01-01 00:15, 01-01 00:20, 01-01 00:25, 01-01 00:30, 01-01 00:35, 01-01 00:40, 01-01 00:45"},
	{"every second", "when=every&plain.n=1&plain.unit=second", `{"recurrence":{"frequency":"second"}}`, "01-01 00:00, 01-01 00:00, 01-01 00:00, 01-01 00:00, 01-01 00:00, 01-01 00:00, 01-01 00:00, 01-01 00:00, 01-01 00:00, 01-01 00:00"},
	{"every 7 hours from a start", "when=every&plain.n=7&plain.unit=hour&startTime=2000-01-02T03:00&timeZone=Europe/Berlin", `{"recurrence":{"frequency":"hour","interval":7},"startTime":"2000-01-02T03:00:00+01:00"}`, "01-02 02:00, 01-02 09:00, 01-02 16:00, 01-02 23:00, 01-03 06:00, 01-03 13:00, 01-03 20:00, 01-04 03:00, 01-04 10:00, 01-04 17:00"},
	{"daily", "when=daily&plain.times=9:00", `{"recurrence":{"cron":"0 9 * * *"}}`, "01-01 09:00, 01-02 09:00, 01-03 09:00, 01-04 09:00, 01-05 09:00, 01-06 09:00, 01-07 09:00, 01-08 09:00, 01-09 09:00, 01-10 09:00"},
	{"daily elsewhere", "when=daily&plain.times=9:00&timeZone=Europe/Berlin", `{"recurrence":{"cron":"0 9 * * *"},"timeZone":"Europe/Berlin"}`, "01-01 09:00, 01-02 09:00, 01-03 09:00, 01-04 09:00, 01-05 09:00, 01-06 09:00, 01-07 09:00, 01-08 09:00, 01-09 09:00, 01-10 09:00"},
	{"daily, twice at one minute", "when=daily&plain.times=17:30,+5:30", `{"recurrence":{"cron":"30 5,17 * * *"}}`, "01-01 05:30, 01-01 17:30, 01-02 05:30, 01-02 17:30, 01-03 05:30, 01-03 17:30, 01-04 05:30, 01-04 17:30, 01-05 05:30, 01-05 17:30"},
	{"daily, at what needs two patterns", "when=daily&plain.times=9am+5:30+pm", `{"recurrence":{"cron":"0 9 * * *; 30 17 * * *"}}`, "01-01 09:00, 01-01 17:30, 01-02 09:00, 01-02 17:30, 01-03 09:00, 01-03 17:30, 01-04 09:00, 01-04 17:30, 01-05 09:00, 01-05 17:30"},
	{"daily, twice in an hour", "when=daily&plain.times=9,9:30", `{"recurrence":{"cron":"0,30 9 * * *"}}`, "01-01 09:00, 01-01 09:30, 01-02 09:00, 01-02 09:30, 01-03 09:00, 01-03 09:30, 01-04 09:00, 01-04 09:30, 01-05 09:00, 01-05 09:30"},
	{"on weekdays", "when=weekdays&plain.times=8.15", `{"recurrence":{"cron":"15 8 * * MON-FRI"}}`, "01-03 08:15, 01-04 08:15, 01-05 08:15, 01-06 08:15, 01-07 08:15, 01-10 08:15, 01-11 08:15, 01-12 08:15, 01-13 08:15, 01-14 08:15"},
	{"weekly", "when=weekly&plain.times=12am&plain.days=FRI&plain.days=MON", `{"recurrence":{"cron":"0 0 * * MON,FRI"}}`, "01-03 00:00, 01-07 00:00, 01-10 00:00, 01-14 00:00, 01-17 00:00, 01-21 00:00, 01-24 00:00, 01-28 00:00, 01-31 00:00, 02-04 00:00"},
	{"weekly over a span", "when=weekly&plain.times=12pm&plain.days=FRI&plain.days=SAT&plain.days=SUN&plain.days=TUE", `{"recurrence":{"cron":"0 12 * * TUE,FRI-SUN"}}`, "01-01 12:00, 01-02 12:00, 01-04 12:00, 01-07 12:00, 01-08 12:00, 01-09 12:00, 01-11 12:00, 01-14 12:00, 01-15 12:00, 01-16 12:00"},
	{"monthly on a day", "when=monthly&plain.times=9:00&plain.on=day&plain.day=31", `{"recurrence":{"cron":"0 9 31 * *"}}`, "01-31 09:00, 03-31 09:00, 05-31 09:00, 07-31 09:00, 08-31 09:00, 10-31 09:00, 12-31 09:00, 01-31 09:00, 03-31 09:00, 05-31 09:00"},
	{"monthly on the last day", "when=monthly&plain.times=9:00&plain.on=last", `{"recurrence":{"cron":"0 9 L * *"}}`, "01-31 09:00, 02-29 09:00, 03-31 09:00, 04-30 09:00, 05-31 09:00, 06-30 09:00, 07-31 09:00, 08-31 09:00, 09-30 09:00, 10-31 09:00"},
	{"monthly on the second Tuesday", "when=monthly&plain.times=9:00&plain.on=weekday&plain.nth=2&plain.weekday=TUE", `{"recurrence":{"cron":"0 9 * * TUE#2"}}`, "01-11 09:00, 02-08 09:00, 03-14 09:00, 04-11 09:00, 05-09 09:00, 06-13 09:00, 07-11 09:00, 08-08 09:00, 09-12 09:00, 10-10 09:00"},
	{"monthly on the last Friday", "when=monthly&plain.times=9:00&plain.on=weekday&plain.nth=last&plain.weekday=FRI", `{"recurrence":{"cron":"0 9 * * FRIL"}}`, "01-28 09:00, 02-25 09:00, 03-31 09:00, 04-28 09:00, 05-26 09:00, 06-30 09:00, 07-28 09:00, 08-25 09:00, 09-29 09:00, 10-27 09:00"},
	{"yearly", "when=yearly&plain.times=9:00&plain.date=24&plain.month=DEC", `{"recurrence":{"cron":"0 9 24 12 *"}}`, "12-24 09:00, 12-24 09:00, 12-24 09:00, 12-24 09:00, 12-24 09:00, 12-24 09:00, 12-24 09:00, 12-24 09:00, 12-24 09:00, 12-24 09:00"},
	{"once", "when=once&plain.once=2000-07-01T09:00&timeZone=America/New_York", `{"startTime":"2000-07-01T09:00:00-04:00"}`, "07-01 13:00"},
	{"once, now", "when=once", `{}`, "01-01 00:00"},
	{"with an end", "when=daily&plain.times=9:00&recurrence.endTime=2000-01-02T09:00&recurrence.count=5", `{"recurrence":{"cron":"0 9 * * *","count":5,"endTime":"2000-01-02T09:00:00Z"}}`, "01-01 09:00, 01-02 09:00"},
	{"a count", "when=daily&plain.times=9:00&recurrence.count=3", `{"recurrence":{"cron":"0 9 * * *","count":3}}`, "01-01 09:00, 01-02 09:00, 01-03 09:00"},
	{"cron", "when=cron&recurrence.cron=0+18+L+*+*&cron.dialect=obsidian", `{"recurrence":{"cron":"0 18 L * *"}}`, "01-31 18:00, 02-29 18:00, 03-31 18:00, 04-30 18:00, 05-31 18:00, 06-30 18:00, 07-31 18:00, 08-31 18:00, 09-30 18:00, 10-31 18:00"},
	{"dsari", "when=cron&recurrence.cron=@daily&cron.dialect=dsari", `{"recurrence":{"dialect":"dsari","cron":"@daily"}}`, ""},
	{"rrule", "when=rrule&recurrence.rrule=DTSTART:20000103T090000Z%0d%0aRRULE:FREQ=WEEKLY%3bCOUNT=2&rrule.dialect=rfc5545", `{"recurrence":{"rrule":"DTSTART:20000103T090000Z\nRRULE:FREQ=WEEKLY;COUNT=2"}}`, "01-03 09:00, 01-10 09:00"},
	{"azure", "when=azure&recurrence.frequency=week&recurrence.schedule.weekDays=friday&recurrence.schedule.hours=18&recurrence.count=2&startTime=2000-01-01", `{"recurrence":{"frequency":"week","schedule":{"hours":[18],"weekDays":["friday"]},"count":2},"startTime":"2000-01-01T00:00:00Z"}`, "01-07 18:00, 01-14 18:00"},
	{"azure with all of it", "when=azure&recurrence.frequency=month&recurrence.interval=2&recurrence.schedule.monthlyOccurrences=tuesday+2,+friday+-1&recurrence.schedule.hours=9&recurrence.schedule.minutes=0,30&recurrence.count=3&startTime=2000-01-01", `{"recurrence":{"frequency":"month","interval":2,"schedule":{"minutes":[0,30],"hours":[9],"monthlyOccurrences":[{"day":"tuesday","occurrence":2},{"day":"friday","occurrence":-1}]},"count":3},"startTime":"2000-01-01T00:00:00Z"}`, "01-11 09:00, 01-11 09:30, 01-28 09:00"},
	{"what is folded away", "when=daily&plain.times=9:00&dst.gap=skip&jitter=30s&catchUp.policy=all&catchUp.window=2h&overlap=allow&recurrence.count=1", `{"catchUp":{"policy":"all","window":"2h"},"dst":{"gap":"skip"},"jitter":"30s","overlap":"allow","recurrence":{"cron":"0 9 * * *","count":1}}`, "01-01 09:00"},
}

// TestPlainChoices has what each choice becomes, and its next ten runs, on the clock of the schedule.
func TestPlainChoices(t *testing.T) {
	for _, row := range plainRows {
		t.Run(row.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				s := Read(typed(t, row.query))
				if got := membersOf(t, s); got != row.members || len(s.Problems) > 0 {
					t.Errorf("got %s %v, want %s", got, s.Problems, row.members)
				}
				o, err := s.Look(t.Context(), control.Previewer{}, "job", time.UTC)
				if err != nil || len(s.Problems) > 0 || o.Wrong > 0 {
					t.Fatal(err, s.Problems)
				}
				var runs []string
				zone := must.Get(time.LoadLocation(o.Zone))(t)
				for _, r := range o.Runs {
					runs = append(runs, r.At.In(zone).Format("01-02 15:04"))
				}
				if got := strings.Join(runs, ", "); got != row.runs && row.runs != "" {
					t.Errorf("runs\n got %s\nwant %s", got, row.runs)
				}
				if o.English == "" || o.Year == nil {
					t.Errorf("%+v", o)
				}
			})
		})
	}
}

// TestPlainChoicesComeBack shows what each choice has become in the fields, as they were chosen.
func TestPlainChoicesComeBack(t *testing.T) {
	for _, row := range plainRows {
		if row.name == "once, now" { // nothing tells it
			continue
		}
		s := Read(typed(t, row.query))
		f := fieldsOf(t, `{"properties":`+membersOf(t, s)+`}`)
		again := Read(all(f))
		if got, want := membersOf(t, again), membersOf(t, s); got != want || len(again.Problems) > 0 {
			t.Errorf("%s: %s, want %s %v", row.name, got, want, again.Problems)
		}
		if f.When() != s.Form.When() && row.name != "cron" { // which is a plain choice
			t.Errorf("%s: %s, want %s", row.name, f.When(), s.Form.When())
		}
	}
}

// fieldsOf are the fields of a job.
func fieldsOf(tb testing.TB, job string) Form {
	tb.Helper()
	return Fields(must.Get(document.Parse([]byte(job)))(tb))
}

// all is what a browser sends of a form.
func all(f Form) url.Values {
	values := url.Values{}
	for name, v := range f.values {
		values[Prefix+name] = v
	}
	return values
}

// TestStoredSchedulesStay reads jobs as they are stored, and writes what the fields hold of them: it is the same.
func TestStoredSchedulesStay(t *testing.T) {
	for when, properties := range map[string][]string{
		choiceCron: {
			`{"recurrence":{"cron":"0 09 * * *"}}`, `{"recurrence":{"cron":"0 9 * * 1"}}`, `{"recurrence":{"cron":"0 9 * * MON,SUN,TUE"}}`,
			`{"recurrence":{"cron":"0 17 * * *; 0 9 * * *"}}`, `{"recurrence":{"cron":"*/5 * * * *"}}`, `{"recurrence":{"cron":"@daily"}}`,
			`{"recurrence":{"anchor":"grid","cron":"@recur 3 days"}}`,
			`{"recurrence":{"cron":"0 9 1 13 *"}}`, `{"recurrence":{"dialect":"dsari","cron":"0 9 * * *"}}`, `{"recurrence":{"cron":"0 99 * * *"}}`,
		},
		choiceDaily: {
			`{"recurrence":{"dialect":"obsidian","cron":"0 9 * * *"}}`, `{"recurrence":{"cron":"0 9 * * *"},"timeZone":"UTC"}`,
			`{"recurrence":{"cron":"0 9 * * *","endTime":"2030-01-01T00:00:00+01:00"},"startTime":"2029-06-01T00:00:30.5Z","timeZone":"Europe/Berlin"}`,
		},
		choiceEvery: {`{"recurrence":{"frequency":"minute","interval":1}}`, `{"recurrence":{"frequency":"day"},"timeZone":"Asia/Tokyo"}`},
		choiceAzure: {
			`{"recurrence":{"frequency":"year"}}`, `{"recurrence":{"frequency":"day","interval":2,"anchor":"lastExecution"}}`,
			`{"recurrence":{"frequency":"week","schedule":{"hours":[9],"weekDays":["Friday","Monday"]}}}`,
		},
		choiceOnce:  {`{"startTime":"2029-10-28T02:30:00+01:00","timeZone":"Europe/Berlin"}`, `{}`},
		choiceRRule: {`{"recurrence":{"dialect":"awx","rrule":"DTSTART:20300115T120000Z RRULE:FREQ=DAILY;INTERVAL=1;COUNT=7"}}`},
	} {
		for _, text := range properties {
			f := fieldsOf(t, text)
			var want Schedule
			must.Do(t, json.Unmarshal([]byte(text), &want.Members))
			s := Read(all(f))
			if got, want := membersOf(t, s), membersOf(t, want); got != want || f.When() != when {
				t.Errorf("%s: got %s\nwant %s %s", f.When(), got, when, want)
			}
		}
	}
}

// TestLetterCase reads a job as it may be pasted, in a letter case of its own: what it chooses is chosen, and weekdays stay as
// they were written until they are others.
func TestLetterCase(t *testing.T) {
	const pasted = `{"recurrence":{"frequency":"Week","schedule":{"weekDays":["Friday","Monday"]}},"overlap":"Allow",` +
		`"catchUp":{"policy":"Skip"},"dst":{"gap":"Shift","overlap":"BOTH"}}`
	f := fieldsOf(t, pasted)
	for name, want := range map[string]string{"overlap": "allow", "catchUp.policy": "skip", "dst.gap": "shift", "dst.overlap": "both"} {
		if got := f.Value(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	sent := all(f)
	if got := sent[Prefix+"recurrence.schedule.weekDays"]; !slices.Equal(got, []string{"friday", "monday"}) {
		t.Errorf("chosen are %q", got)
	}
	if got := string(Read(sent).Members["recurrence"]); !strings.Contains(got, `["Friday","Monday"]`) {
		t.Error(got)
	}
	sent.Add(Prefix+"recurrence.schedule.weekDays", "sunday")
	if got := string(Read(sent).Members["recurrence"]); !strings.Contains(got, `["friday","monday","sunday"]`) {
		t.Error(got)
	}
}

// TestAsked has a job without a time of its own.
func TestAsked(t *testing.T) {
	s := Read(typed(t, "when=asked&plain.times=9:00&startTime=2030-01-01&recurrence.count=4"))
	o, err := s.Look(t.Context(), control.Previewer{}, "", time.UTC)
	if err != nil || !s.OnRequest || len(s.Members) > 0 || len(s.Problems) > 0 || o.English == "" || len(o.Runs) > 0 {
		t.Errorf("%+v %+v %v", s, o, err)
	}
	if f := fieldsOf(t, `{"properties":{"state":"disabled"}}`); f.When() != choiceAsked {
		t.Error(f.When())
	}
}

// TestOnEvents has a job that only events start.
func TestOnEvents(t *testing.T) {
	s := Read(typed(t, "when=events&startTime=2030-01-01&timeZone=Europe/Berlin&recurrence.count=4"))
	o, err := s.Look(t.Context(), control.Previewer{}, "", time.UTC)
	if err != nil || !s.OnEvents || s.OnRequest || len(s.Members) > 0 || len(s.Problems) > 0 || !strings.Contains(o.English, "event") {
		t.Errorf("%+v %+v %v", s, o, err)
	}
	for doc, want := range map[string]string{
		`{"state": "disabled", "trigger": {"on": {"source": "order"}}}`:                               choiceEvents,
		`{"trigger": {"on": {"source": "order"}}, "recurrence": {"frequency": "day", "interval": 1}}`: choiceEvery,
	} {
		if got := fieldsOf(t, doc).When(); got != want {
			t.Errorf("%s: %s", doc, got)
		}
	}
}

// TestProblemsHaveTheirFields has mistakes, and the fields that tell them.
func TestProblemsHaveTheirFields(t *testing.T) {
	for _, test := range []struct{ query, field, text, here string }{
		{"when=daily&plain.times=25:00", "plain.times", `"25:00" is not a time`, ""},
		{"when=daily&plain.times=", "plain.times", "Enter a time", ""},
		{"when=weekly&plain.times=9", "plain.days", "Choose at least one day", ""},
		{"when=monthly&plain.times=9&plain.day=32", "plain.day", `"32" is not a day`, ""},
		{"when=yearly&plain.times=9&plain.date=x", "plain.date", `"x" is not a day`, ""},
		{"when=every&plain.n=0", "plain.n", "whole number", ""},
		{"when=every&plain.n=5000&plain.unit=minute", "plain.n", "is not in 1-1000", ""},
		{"when=daily&plain.times=9&timeZone=Europe/Berln", "timeZone", `did you mean "Europe/Berlin"`, ""},
		{"when=once&plain.once=tomorrow", "plain.once", "tomorrow", ""},
		{"when=daily&plain.times=9&startTime=soon", "startTime", "soon", ""},
		{"when=daily&plain.times=9&recurrence.endTime=late", "recurrence.endTime", "late", ""},
		{"when=daily&plain.times=9&recurrence.count=-1", "recurrence.count", "whole number", ""},
		{"when=daily&plain.times=9&jitter=2d", "jitter", "", ""},
		{"when=daily&plain.times=9&catchUp.window=x", "catchUp.window", "", ""},
		{"when=daily&plain.times=9&catchUp.policy=x", "catchUp.policy", "", ""},
		{"when=daily&plain.times=9&overlap=x", "overlap", "", ""},
		{"when=daily&plain.times=9&dst.gap=x", "dst.gap", "", ""},
		{"when=cron&recurrence.cron=", "recurrence.cron", "Enter a cron expression", ""},
		{"when=cron&recurrence.cron=0+0+32+*+*", "recurrence.cron", "column 5, field 3", "32"},
		{"when=cron&recurrence.cron=0+0+*+*", "recurrence.cron", "4 fields found", "*"},
		{"when=cron&recurrence.cron=0+0+*+*+*&cron.dialect=x", "cron.dialect", "", ""},
		{"when=rrule&recurrence.rrule=DTSTART:20300101T000000Z+RRULE:FREQ=DAYLY", "recurrence.rrule", "", "DAYLY"},
		{"when=rrule", "recurrence.rrule", "Enter a recurrence", ""},
		{"when=azure&recurrence.frequency=dy", "recurrence.frequency", "", ""},
		{"when=azure&recurrence.frequency=day&recurrence.interval=549", "recurrence.interval", "", ""},
		{"when=azure&recurrence.frequency=day&recurrence.schedule.hours=5,24", "recurrence.schedule.hours", "24", ""},
		{"when=azure&recurrence.frequency=day&recurrence.schedule.hours=5,x", "recurrence.schedule.hours", `"x" is not`, ""},
		{"when=azure&recurrence.frequency=day&recurrence.schedule.weekDays=friday", "recurrence.schedule.weekDays", "", ""},
		{"when=azure&recurrence.frequency=month&recurrence.schedule.monthlyOccurrences=tuesday+2+3", "recurrence.schedule.monthlyOccurrences", "tuesday 2 3", ""},
		{"when=once&paste=hello+there", "paste", "hello there", ""},
	} {
		s := Read(typed(t, test.query))
		o, err := s.Look(t.Context(), control.Previewer{}, "", time.UTC)
		if err != nil {
			t.Fatal(test.query, err)
		}
		wrong := s.Form.Wrong(test.field)
		if len(wrong) == 0 || o.Wrong == 0 || !strings.Contains(wrong[0].Text, test.text) || wrong[0].Here != test.here {
			t.Errorf("%s: %s has %+v; all are %v", test.query, test.field, wrong, s.Problems)
		}
		if len(s.Problems) != 1 {
			t.Errorf("%s: %v", test.query, s.Problems)
		}
	}
}

// TestLabels: each field that shows problems has a name for people.
func TestLabels(t *testing.T) {
	for _, d := range fields {
		if d.Label != "" && !words.Has(d.Label) {
			t.Errorf("%s has no label", d.Name)
		}
	}
}
