package builder

import (
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// job is the part of a job that fields show in another form.
type job struct {
	Recurrence *recurrence `json:"recurrence"`
	StartTime  string      `json:"startTime"`
	TimeZone   string      `json:"timeZone"`
	State      string      `json:"state"`
	Trigger    any         `json:"trigger"`
}

// Fields returns the form of a job from its document, in either form. A document that is no job is a new one, which runs
// daily by default.
func Fields(v document.Value) Form {
	f := Form{values: url.Values{}}
	var j job
	if inner, ok := v.Member("properties"); ok {
		v = inner
	}
	if v.Kind() != document.KindObject || json.Unmarshal(v.JSON(), &j) != nil {
		f.set("when", choiceDaily)
		f.set("plain.times", "09:00")
		return f
	}
	f.keep("timeZone", j.TimeZone)
	f.keep("was.timeZone", j.TimeZone)
	zone, err := spec.LoadZone(j.TimeZone)
	if err != nil || j.TimeZone == "" {
		zone = time.UTC
	}
	f.keepMoment("startTime", j.StartTime, zone)
	for _, d := range fields {
		if d.text {
			f.keep(d.Name, jobform.At(v, d.Name).Text()) // a text, or a number of seconds
		}
	}
	if j.Recurrence == nil {
		f.once(j)
	} else {
		f.recurs(j.Recurrence, zone)
	}
	f.spell()
	return f
}

// spell normalizes the letter case of choices, because a choice in another spelling would not be selected.
func (f Form) spell() {
	for _, d := range fields {
		for i, value := range f.values[d.Name] {
			if at := slices.IndexFunc(d.Choices, func(choice string) bool { return strings.EqualFold(choice, value) }); at >= 0 {
				f.values[d.Name][i] = d.Choices[at]
			}
		}
	}
}

// once fills the fields of a job without a recurrence.
func (f Form) once(j job) {
	if j.Trigger != nil {
		f.set("when", choiceEvents)
		return
	}
	if j.StartTime == "" && strings.EqualFold(j.State, "disabled") {
		f.set("when", choiceAsked)
		return
	}
	f.set("when", choiceOnce)
	f.keep("plain.once", f.Value("startTime"))
	f.values.Del("startTime")
}

// recurs fills the fields of a recurrence.
func (f Form) recurs(rec *recurrence, zone *time.Location) {
	f.keep("recurrence.count", number(rec.Count))
	f.keepMoment("recurrence.endTime", rec.EndTime, zone)
	f.keep("was.dialect", rec.Dialect)
	switch {
	case rec.Cron != "":
		f.set("when", choiceCron)
		f.set("recurrence.cron", rec.Cron)
		f.keep("cron.dialect", rec.Dialect)
		f.keep("was.anchor", rec.Anchor)
		if rec.Dialect == "" || rec.Dialect == string(spec.Obsidian) {
			f.plainCron(rec.Cron)
		}
	case rec.RRule != "":
		f.set("when", choiceRRule)
		f.set("recurrence.rrule", rec.RRule)
		f.keep("rrule.dialect", rec.Dialect)
	default:
		f.azure(rec)
	}
}

// azure fills the fields of an Azure Scheduler recurrence.
func (f Form) azure(rec *recurrence) {
	f.set("when", choiceAzure)
	f.set("recurrence.frequency", strings.ToLower(rec.Frequency))
	f.keep("recurrence.interval", number(rec.Interval))
	f.keep("recurrence.anchor", rec.Anchor)
	if unit := strings.ToLower(rec.Frequency); rec.Schedule == nil && rec.Anchor == "" && slices.Contains(plainUnits, unit) {
		f.set("when", choiceEvery)
		f.set("plain.n", strconv.Itoa(max(1, rec.Interval)))
		f.set("plain.unit", unit)
		f.keep("was.interval", number(rec.Interval))
	}
	if rec.Schedule == nil {
		return
	}
	const s = azureSchedule
	e := rec.Schedule
	f.keep(s+"minutes", numbers(e.Minutes))
	f.keep(s+"hours", numbers(e.Hours))
	f.keep(s+"monthDays", numbers(e.MonthDays))
	f.keep(s+"months", numbers(e.Months))
	if len(e.WeekDays) > 0 {
		f.set(s+"weekDays", slices.Clone(e.WeekDays)...)
		f.keep("was.weekDays", strings.Join(e.WeekDays, ","))
	}
	var nth []string
	for _, o := range e.Nth {
		nth = append(nth, strings.TrimSpace(o.Day+" "+number(o.Occurrence)))
	}
	f.keep(s+"monthlyOccurrences", strings.Join(nth, ", "))
}

// pattern matches times of day on the days of a cron pattern.
var pattern = regexp.MustCompile(`^(\d{1,2}(?:,\d{1,2})*) (\d{1,2}(?:,\d{1,2})*) (\S+ \S+ \S+)$`)

// plainPatterns are the days of plain choices, with the fields that they become.
var plainPatterns = []struct {
	days   *regexp.Regexp
	fields string // a query
}{
	{regexp.MustCompile(`^\* \* \*$`), "when=daily"},
	{regexp.MustCompile(`^\* \* MON-FRI$`), "when=weekdays"},
	{regexp.MustCompile(`^L \* \*$`), "when=monthly&plain.on=last"},
	{regexp.MustCompile(`^(\d{1,2}) \* \*$`), "when=monthly&plain.on=day&plain.day=$1"},
	{regexp.MustCompile(`^\* \* (\w{3})#([1-5])$`), "when=monthly&plain.on=weekday&plain.weekday=$1&plain.nth=$2"},
	{regexp.MustCompile(`^\* \* (MON|TUE|WED|THU|FRI|SAT|SUN)L$`), "when=monthly&plain.on=weekday&plain.weekday=$1&plain.nth=last"},
	{regexp.MustCompile(`^(\d{1,2}) (\d{1,2}) \*$`), "when=yearly&plain.date=$1&plain.month=$2"},
	{regexp.MustCompile(`^\* \* ([A-Z,-]+)$`), "when=weekly&plain.days=$1"},
}

// plainCron selects the plain choice that produces the same cron text, if one does.
func (f Form) plainCron(text string) {
	values := url.Values{}
	var days string
	var times []string
	for one := range strings.SplitSeq(text, ";") {
		m := pattern.FindStringSubmatch(strings.TrimSpace(one))
		if len(m) == 0 || days != "" && days != m[3] {
			return
		}
		days = m[3]
		for minute := range strings.SplitSeq(m[1], ",") {
			for hour := range strings.SplitSeq(m[2], ",") {
				times = append(times, twoDigits(hour)+":"+twoDigits(minute))
			}
		}
	}
	if len(times) > maxTimes {
		return
	}
	slices.Sort(times)
	values.Set("plain.times", strings.Join(times, ", "))
	plainDays(values, days)
	r := &reading{Form: Form{values: values}}
	if r.plain().Cron != text || len(r.problems) > 0 {
		return
	}
	maps.Copy(f.values, values)
}

// plainDays selects the plain choice for the days of a cron pattern. It may select another one for days that none has.
func plainDays(values url.Values, days string) {
	for _, p := range plainPatterns {
		m := p.days.FindStringSubmatchIndex(days)
		if m == nil {
			continue
		}
		chosen, _ := url.ParseQuery(string(p.days.ExpandString(nil, p.fields, days, m)))
		maps.Copy(values, chosen)
		break
	}
	if month, err := strconv.Atoi(values.Get("plain.month")); err == nil {
		values.Set("plain.month", months[min(max(month, 1), len(months))-1])
	}
	spans := strings.Split(values.Get("plain.days"), ",")
	values.Del("plain.days")
	for _, span := range spans {
		from, to, isSpan := strings.Cut(span, "-")
		if !isSpan {
			to = from
		}
		for i := slices.Index(weekdays, from); i >= 0 && i <= slices.Index(weekdays, to); i++ {
			values.Add("plain.days", weekdays[i])
		}
	}
}

// keep sets a field, unless the text is empty.
func (f Form) keep(name, text string) {
	if text != "" {
		f.set(name, text)
	}
}

// keepMoment sets the field of a time on the clock of a zone, in the form of a browser's input. A time that the input
// cannot show keeps its original text.
func (f Form) keepMoment(name, text string, zone *time.Location) {
	t, err := document.ParseTime(text)
	if err != nil {
		f.keep(name, text)
		return
	}
	f.set("was."+name[strings.LastIndexByte(name, '.')+1:], text)
	local := t.In(zone)
	layout := layouts[0]
	if local.Second() != 0 {
		layout = layouts[1]
	}
	written := local.Format(layout)
	if again, err := time.ParseInLocation(layout, written, zone); err != nil || !again.Equal(t) {
		f.set(name, text) // in the repeated hour of a DST change, or with decimals
		return
	}
	f.set(name, written)
}

func twoDigits(n string) string {
	if len(n) == 1 {
		return "0" + n
	}
	return n
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func numbers(list []int) string {
	var out []string
	for _, n := range list {
		out = append(out, strconv.Itoa(n))
	}
	return strings.Join(out, ", ")
}
