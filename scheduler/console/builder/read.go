package builder

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Schedule is the schedule that a form describes.
type Schedule struct {
	// Form is the submitted form. After a paste in a known language, it holds the fields of that language.
	Form Form

	// Members are recurrence, startTime, timeZone, dst, jitter, catchUp and overlap of a job's properties, as JSON,
	// without those that have their default.
	Members map[string]json.RawMessage

	// OnRequest: the job has no schedule. It is disabled and runs on request only.
	OnRequest bool

	// OnEvents: the job has no schedule. The events of its trigger start it.
	OnEvents bool

	// Problems are the problems of the form, with the paths of fields, except those that only the scheduler detects.
	Problems document.Problems
}

// reading is the state of Read.
type reading struct {
	Form

	problems document.Problems
	zone     *time.Location
}

// recurrence is a recurrence of a document.
type recurrence struct {
	Frequency string    `json:"frequency,omitempty"`
	Interval  int       `json:"interval,omitempty"`
	Schedule  *elements `json:"schedule,omitempty"`
	Anchor    string    `json:"anchor,omitempty"`
	Dialect   string    `json:"dialect,omitempty"`
	Cron      string    `json:"cron,omitempty"`
	RRule     string    `json:"rrule,omitempty"`
	Count     int       `json:"count,omitempty"`
	EndTime   string    `json:"endTime,omitempty"`
}

// elements is the schedule of a recurrence.
type elements struct {
	Minutes   []int        `json:"minutes,omitempty"`
	Hours     []int        `json:"hours,omitempty"`
	WeekDays  []string     `json:"weekDays,omitempty"`
	MonthDays []int        `json:"monthDays,omitempty"`
	Nth       []occurrence `json:"monthlyOccurrences,omitempty"`
	Months    []int        `json:"months,omitempty"`
}

type occurrence struct {
	Day        string `json:"day"`
	Occurrence int    `json:"occurrence,omitempty"`
}

// Read parses a submitted form.
func Read(values url.Values) Schedule { return Typed(values).Read() }

// Read parses the fields.
func (f Form) Read() Schedule {
	r := &reading{Form: f, zone: time.UTC}
	r.takePasted()
	out := Schedule{Members: map[string]json.RawMessage{}, OnRequest: r.When() == choiceAsked, OnEvents: r.When() == choiceEvents}
	add := func(name string, v any) { out.Members[name] = v1.JSON(v) }
	zone := r.text("timeZone")
	if loc, err := spec.LoadZone(zone); zone != "" && err == nil {
		r.zone = loc
	}
	start := r.moment("startTime", "was.startTime")
	rec := r.recurrence()
	switch {
	case r.When() == choiceOnce:
		start = r.moment("plain.once", "was.startTime")
	case out.OnRequest, out.OnEvents:
		start = ""
	}
	if rec != nil {
		add("recurrence", rec)
	}
	if start != "" {
		add("startTime", start)
	}
	if r.hasClock() && zone != "" && zone != "UTC" || zone != "" && zone == r.text("was.timeZone") {
		add("timeZone", zone)
	}
	texts := document.ObjectValue()
	for _, d := range fields {
		if text := r.text(d.Name); d.text && text != "" {
			texts = texts.With(document.StringValue(text), d.Name)
		}
	}
	for _, m := range texts.Members() {
		add(m.Name, m.Value)
	}
	out.Form, out.Problems = r.Form, r.problems
	out.Form.Problems = r.problems
	return out
}

// hasClock reports whether the choice depends on the clock of a zone.
func (r *reading) hasClock() bool {
	return !slices.Contains([]string{choiceAsked, choiceEvents, choiceOnce, choiceEvery, choiceAzure}, r.When())
}

// wrong adds a problem of a field.
func (r *reading) wrong(field, message string) {
	r.problems = append(r.problems, document.Problem{Path: field, Message: message})
}

// recurrence returns the recurrence of the choice, nil for a job without one.
func (r *reading) recurrence() *recurrence {
	var rec *recurrence
	switch r.When() {
	case choiceAsked, choiceEvents, choiceOnce:
		return nil
	case choiceAzure:
		rec = r.azure()
	case choiceCron:
		cron := r.required("recurrence.cron", words.Text("builder.cron.missing"))
		rec = &recurrence{Cron: cron, Dialect: r.dialect("cron", spec.Obsidian)}
		if strings.HasPrefix(strings.ToLower(rec.Cron), "@recur") {
			rec.Anchor = r.text("was.anchor")
		}
	case choiceRRule:
		text := strings.ReplaceAll(r.required("recurrence.rrule", words.Text("builder.rrule.missing")), "\r", "")
		rec = &recurrence{RRule: text, Dialect: r.dialect("rrule", spec.RFC5545)}
	default:
		rec = r.plain()
	}
	if text := r.text("recurrence.count"); text != "" {
		rec.Count = r.number("recurrence.count", text, 1)
	}
	rec.EndTime = r.moment("recurrence.endTime", "was.endTime")
	return rec
}

// required returns a text and adds a problem if it is empty.
func (r *reading) required(field, missing string) string {
	text := r.text(field)
	if text == "" {
		r.wrong(field, missing)
	}
	return text
}

// dialect returns the dialect of a language, "" for the default.
func (r *reading) dialect(language string, usual spec.Dialect) string {
	if d := r.text(language + ".dialect"); d != string(usual) {
		return d
	}
	return r.was(usual)
}

// was returns the default dialect if the original document states it explicitly.
func (r *reading) was(usual spec.Dialect) string {
	if r.text("was.dialect") == string(usual) {
		return string(usual)
	}
	return ""
}

// azure returns the recurrence of Azure Scheduler.
func (r *reading) azure() *recurrence {
	rec := &recurrence{Frequency: r.Or("recurrence.frequency", "day"), Anchor: r.text("recurrence.anchor")}
	if text := r.text("recurrence.interval"); text != "" {
		rec.Interval = r.number("recurrence.interval", text, 1)
	}
	const s = azureSchedule
	e := &elements{
		Minutes: r.numbers(s + "minutes"), Hours: r.numbers(s + "hours"), WeekDays: r.weekDays(s + "weekDays"),
		MonthDays: r.numbers(s + "monthDays"), Months: r.numbers(s + "months"), Nth: r.occurrences(s + "monthlyOccurrences"),
	}
	if len(e.Minutes)+len(e.Hours)+len(e.WeekDays)+len(e.MonthDays)+len(e.Months)+len(e.Nth) > 0 {
		rec.Schedule = e
	}
	return rec
}

// weekDays returns the weekdays of a field. Unchanged weekdays keep their original text.
func (r *reading) weekDays(field string) []string {
	days := r.values[field]
	was := strings.Split(r.text("was.weekDays"), ",")
	same := len(was) == len(days) && !slices.ContainsFunc(days, func(day string) bool {
		return !slices.ContainsFunc(was, func(one string) bool { return strings.EqualFold(one, day) })
	})
	if same {
		return was
	}
	return days
}

// number parses a whole number of at least least. An invalid one adds a problem and yields least.
func (r *reading) number(field, text string, least int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		r.wrong(field, words.Text("builder.number", document.Cut(text, maxQuoted), least))
		return least
	}
	return n
}

// maxQuoted limits the typed text in a problem, in bytes.
const maxQuoted = 60

// parts splits a list at commas or spaces.
func parts(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ';' || c == ' ' || c == '\n' || c == '\r' || c == '\t' })
}

// numbers parses a list of whole numbers.
func (r *reading) numbers(field string) []int {
	var list []int
	for _, one := range parts(r.text(field)) {
		n, err := strconv.Atoi(one)
		if err != nil {
			r.wrong(field, words.Text("builder.numbers", document.Cut(one, maxQuoted)))
			return nil
		}
		list = append(list, n)
	}
	return list
}

// occurrences parses weekdays of a month, such as "Friday 2, Monday -1".
func (r *reading) occurrences(field string) []occurrence {
	var list []occurrence
	for one := range strings.SplitSeq(r.text(field), ",") {
		given := strings.Fields(one)
		if len(given) == 0 {
			continue
		}
		o := occurrence{Day: given[0]}
		if len(given) > 1 {
			n, err := strconv.Atoi(given[1])
			if err != nil || len(given) > 2 {
				r.wrong(field, words.Text("builder.occurrence", document.Cut(strings.TrimSpace(one), maxQuoted)))
				return nil
			}
			o.Occurrence = n
		}
		list = append(list, o)
	}
	return list
}

// layouts are the forms of a time without a zone, of browsers and of users.
var layouts = []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02"}

// moment converts a time on the clock of the schedule's zone to the form of a document. Other text stays as it is, and
// the document's parser reports the problem. An unchanged time keeps its original form.
func (r *reading) moment(field, was string) string {
	text := r.text(field)
	if text == "" {
		return ""
	}
	for _, layout := range layouts {
		t, err := time.ParseInLocation(layout, text, r.zone)
		if err != nil {
			continue
		}
		if before, err := document.ParseTime(r.text(was)); err == nil && before.Equal(t) {
			return r.text(was)
		}
		return t.Format(time.RFC3339)
	}
	return text
}

// clock is a time of day.
type clock struct{ hour, minute int }

// plainUnits are the units of the interval choice.
var plainUnits = []string{"second", "minute", "hour", "day", "week", "month"}

// maxTimes limits the times of day of a plain choice.
const maxTimes = 96

// plain returns the simplest recurrence for the plain choice.
func (r *reading) plain() *recurrence {
	if r.When() == choiceEvery {
		rec := &recurrence{Frequency: r.Or("plain.unit", "minute"), Interval: r.number("plain.n", r.Or("plain.n", "1"), 1)}
		if rec.Interval == 1 && r.text("was.interval") != "1" { // 1 is the default
			rec.Interval = 0
		}
		return rec
	}
	return &recurrence{Cron: cronOf(r.times(), r.days()), Dialect: r.was(spec.Obsidian)}
}

// days returns the last three fields of a cron pattern: the days of a choice.
func (r *reading) days() string {
	switch r.When() {
	case choiceWeekdays:
		return "* * MON-FRI"
	case choiceWeekly:
		return "* * " + r.weekly()
	case choiceMonthly:
		return r.monthly()
	case choiceYearly:
		month := slices.Index(months, r.Or("plain.month", "JAN")) + 1
		return fmt.Sprintf("%d %d *", r.day("plain.date"), max(month, 1))
	}
	return "* * *"
}

// weekly returns the weekdays.
func (r *reading) weekly() string {
	var spans []string
	for i := 0; i < len(weekdays); i++ {
		n := 0
		for i+n < len(weekdays) && r.Has("plain.days", weekdays[i+n]) {
			n++
		}
		switch {
		case n == len(weekdays):
			return "*"
		case n > 2: // a range of two days becomes a list
			spans = append(spans, weekdays[i]+"-"+weekdays[i+n-1])
			i += n - 1
		case n > 0:
			spans = append(spans, weekdays[i])
		}
	}
	if spans == nil {
		r.wrong("plain.days", words.Text("builder.days.missing"))
		return "*"
	}
	return strings.Join(spans, ",")
}

// monthly returns the days of the month.
func (r *reading) monthly() string {
	switch r.Or("plain.on", "day") {
	case "last":
		return "L * *"
	case "weekday":
		day := r.Or("plain.weekday", "MON")
		if !slices.Contains(weekdays, day) {
			day = "MON"
		}
		nth := r.Or("plain.nth", "1")
		if nth == "last" {
			return "* * " + day + "L"
		}
		if len(nth) != 1 || nth < "1" || nth > "5" {
			nth = "1"
		}
		return "* * " + day + "#" + nth
	}
	return strconv.Itoa(r.day("plain.day")) + " * *"
}

// day parses the day of a month.
func (r *reading) day(field string) int {
	text := r.Or(field, "1")
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 31 {
		r.wrong(field, words.Text("builder.day", document.Cut(text, maxQuoted)))
		return 1
	}
	return n
}

// timeOfDay matches a time of day: 9, 9:00, 09.00, 9h30, 9am, 5:30 pm.
var timeOfDay = regexp.MustCompile(`(?i)^(\d{1,2})(?:[:.h](\d{2}))?(am|pm)?$`)

// times parses the times of day. It returns at least one.
func (r *reading) times() []clock {
	text := regexp.MustCompile(`(?i)\s+(am|pm)\b`).ReplaceAllString(r.text("plain.times"), "$1")
	var list []clock
	for _, one := range parts(text) {
		c, ok := readClock(one)
		if !ok {
			r.wrong("plain.times", words.Text("builder.time", document.Cut(one, maxQuoted)))
			return []clock{{}}
		}
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b clock) int { return a.hour*60 + a.minute - b.hour*60 - b.minute })
	list = slices.Compact(list)
	switch {
	case len(list) == 0:
		r.wrong("plain.times", words.Text("builder.time.missing"))
		return []clock{{}}
	case len(list) > maxTimes:
		r.wrong("plain.times", words.Text("builder.times.many", maxTimes))
		return list[:maxTimes]
	}
	return list
}

func readClock(text string) (clock, bool) {
	m := timeOfDay.FindStringSubmatch(text)
	if m == nil {
		return clock{}, false
	}
	hour, _ := strconv.Atoi(m[1])
	minute, _ := strconv.Atoi(m[2])
	if half := strings.ToLower(m[3]); half != "" {
		if hour < 1 || hour > 12 {
			return clock{}, false
		}
		hour %= 12
		if half == "pm" {
			hour += 12
		}
	}
	return clock{hour, minute}, hour < 24 && minute < 60
}

// cronOf returns the cron pattern of times on days, one for all hours with the same minutes.
func cronOf(times []clock, days string) string {
	byMinute := map[string][]string{} // lists of hours by minutes
	var order []string
	for _, t := range times {
		minute := strconv.Itoa(t.minute)
		if byMinute[minute] == nil {
			order = append(order, minute)
		}
		byMinute[minute] = append(byMinute[minute], strconv.Itoa(t.hour))
	}
	var patterns []string
	for i := 0; i < len(order); i++ {
		minutes, hours := []string{order[i]}, strings.Join(byMinute[order[i]], ",")
		for j := i + 1; j < len(order); { // group hours with the same minutes
			if strings.Join(byMinute[order[j]], ",") != hours {
				j++
				continue
			}
			minutes = append(minutes, order[j])
			order = slices.Delete(order, j, j+1)
		}
		patterns = append(patterns, strings.Join(minutes, ",")+" "+hours+" "+days)
	}
	return strings.Join(patterns, "; ")
}
