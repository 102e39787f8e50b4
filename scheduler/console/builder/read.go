package builder

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Schedule is what the fields mean.
type Schedule struct {
	// Form is what was typed. When something was pasted whose language is known, it is that in its fields.
	Form Form

	// Members are recurrence, startTime, timeZone, dst, jitter, catchUp and overlap of a job's properties, as JSON. Those
	// that are left to their defaults are not there.
	Members map[string]json.RawMessage

	// OnRequest says that the job has no time of its own: it is disabled, and runs when somebody asks for it.
	OnRequest bool

	// Problems are what is wrong with what was typed, with the paths of fields. What only the scheduler finds is not among
	// them.
	Problems document.Problems
}

// reading reads a form.
type reading struct {
	Form

	problems document.Problems
	zone     *time.Location
}

// recurrence is one as a document has it.
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

// elements are the schedule of a recurrence.
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

// Read says what was typed into the fields.
func Read(values url.Values) Schedule {
	r := &reading{Form: Typed(values), zone: time.UTC}
	r.takePasted()
	out := Schedule{Members: map[string]json.RawMessage{}, OnRequest: r.When() == choiceAsked}
	add := func(name string, v any) {
		data, err := json.Marshal(v)
		if err == nil { // there is nothing in it that JSON has not
			out.Members[name] = data
		}
	}
	zone := r.text("timeZone")
	if loc, err := spec.LoadZone(zone); zone != "" && err == nil {
		r.zone = loc
	}
	start := r.moment("startTime", "was.startTime")
	rec := r.recurrence()
	switch {
	case r.When() == choiceOnce:
		start = r.moment("plain.once", "was.startTime")
	case r.When() == choiceAsked:
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
	for _, name := range []string{"jitter", "overlap"} {
		if text := r.text(name); text != "" {
			add(name, text)
		}
	}
	for _, name := range []string{"dst", "catchUp"} {
		if inner := r.inner(name); len(inner) > 0 {
			add(name, inner)
		}
	}
	out.Form, out.Problems = r.Form, r.problems
	out.Form.Problems = r.problems
	return out
}

// hasClock reports whether the choice is one whose times hang on the clock of a zone.
func (r *reading) hasClock() bool {
	return !slices.Contains([]string{choiceAsked, choiceOnce, choiceEvery, choiceAzure}, r.When())
}

// inner returns an object of texts whose fields have a name before their own.
func (r *reading) inner(name string) map[string]string {
	m := map[string]string{}
	for _, member := range map[string][]string{"dst": {"gap", "overlap"}, "catchUp": {"policy", "window"}}[name] {
		if text := r.text(name + "." + member); text != "" {
			m[member] = text
		}
	}
	return m
}

// wrong notes a problem of a field.
func (r *reading) wrong(field, message string) {
	r.problems = append(r.problems, document.Problem{Path: field, Message: message})
}

// recurrence returns what the choice means, nil for a job that does not recur.
func (r *reading) recurrence() *recurrence {
	var rec *recurrence
	switch r.When() {
	case choiceAsked, choiceOnce:
		return nil
	case choiceAzure:
		rec = r.azure()
	case choiceCron:
		rec = &recurrence{Cron: r.required("recurrence.cron", words.Say("builder.cron.missing")), Dialect: r.dialect("cron", spec.Obsidian)}
		if strings.HasPrefix(strings.ToLower(rec.Cron), "@recur") {
			rec.Anchor = r.text("was.anchor")
		}
	case choiceRRule:
		text := strings.ReplaceAll(r.required("recurrence.rrule", words.Say("builder.rrule.missing")), "\r", "")
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

// required returns a text that must be there.
func (r *reading) required(field, missing string) string {
	text := r.text(field)
	if text == "" {
		r.wrong(field, missing)
	}
	return text
}

// dialect returns the dialect of a language, "" for the one that it has anyway.
func (r *reading) dialect(language string, usual spec.Dialect) string {
	if d := r.text(language + ".dialect"); d != string(usual) {
		return d
	}
	return r.was(usual)
}

// was returns a dialect that need not be told, if the document has told it before.
func (r *reading) was(usual spec.Dialect) string {
	if r.text("was.dialect") == string(usual) {
		return string(usual)
	}
	return ""
}

// azure returns the recurrence of Azure Scheduler that was typed.
func (r *reading) azure() *recurrence {
	rec := &recurrence{Frequency: r.Or("recurrence.frequency", "day"), Anchor: r.text("recurrence.anchor")}
	if text := r.text("recurrence.interval"); text != "" {
		rec.Interval = r.number("recurrence.interval", text, 1)
	}
	const s = "recurrence.schedule."
	e := &elements{
		Minutes: r.numbers(s + "minutes"), Hours: r.numbers(s + "hours"), WeekDays: r.weekDays(s + "weekDays"),
		MonthDays: r.numbers(s + "monthDays"), Months: r.numbers(s + "months"), Nth: r.occurrences(s + "monthlyOccurrences"),
	}
	if len(e.Minutes)+len(e.Hours)+len(e.WeekDays)+len(e.MonthDays)+len(e.Months)+len(e.Nth) > 0 {
		rec.Schedule = e
	}
	return rec
}

// weekDays returns the weekdays of a field. When they are those which were there before, they stay as they were written.
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

// number reads a whole number of a field that is least or more. One that is wrong is noted, and is least.
func (r *reading) number(field, text string, least int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		r.wrong(field, words.Say("builder.number", document.Cut(text, maxQuoted), least))
		return least
	}
	return n
}

// maxQuoted is how many bytes of what was typed a problem repeats.
const maxQuoted = 60

// parts are the parts of a list, which commas or spaces separate.
func parts(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ';' || c == ' ' || c == '\n' || c == '\r' || c == '\t' })
}

// numbers reads a list of whole numbers.
func (r *reading) numbers(field string) []int {
	var list []int
	for _, one := range parts(r.text(field)) {
		n, err := strconv.Atoi(one)
		if err != nil {
			r.wrong(field, words.Say("builder.numbers", document.Cut(one, maxQuoted)))
			return nil
		}
		list = append(list, n)
	}
	return list
}

// occurrences reads weekdays of a month, such as "Friday 2, Monday -1".
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
				r.wrong(field, words.Say("builder.occurrence", document.Cut(strings.TrimSpace(one), maxQuoted)))
				return nil
			}
			o.Occurrence = n
		}
		list = append(list, o)
	}
	return list
}

// layouts are how a browser writes a time without a zone, and how people do.
var layouts = []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02"}

// moment reads a time of a field on the clock of the schedule's zone, and returns it as a document has it. Anything else is
// left as it is: the document says what is wrong with it. A time that is the one which was there before stays in its form.
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
