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

// Schedule is the schedule that a form describes.
type Schedule struct {
	// Form is the submitted form. After a paste in a known language, it holds the fields of that language.
	Form Form

	// Members are recurrence, startTime, timeZone, dst, jitter, catchUp and overlap of a job's properties, as JSON,
	// without those that have their default.
	Members map[string]json.RawMessage

	// OnRequest: the job has no schedule. It is disabled and runs on request only.
	OnRequest bool

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
func Read(values url.Values) Schedule {
	r := &reading{Form: Typed(values), zone: time.UTC}
	r.takePasted()
	out := Schedule{Members: map[string]json.RawMessage{}, OnRequest: r.When() == choiceAsked}
	add := func(name string, v any) {
		data, err := json.Marshal(v)
		if err == nil { // the text is also valid JSON
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

// hasClock reports whether the choice depends on the clock of a zone.
func (r *reading) hasClock() bool {
	return !slices.Contains([]string{choiceAsked, choiceOnce, choiceEvery, choiceAzure}, r.When())
}

// inner returns an object of texts, from the fields with a common prefix.
func (r *reading) inner(name string) map[string]string {
	m := map[string]string{}
	for _, member := range map[string][]string{"dst": {"gap", "overlap"}, "catchUp": {"policy", "window"}}[name] {
		if text := r.text(name + "." + member); text != "" {
			m[member] = text
		}
	}
	return m
}

// wrong adds a problem of a field.
func (r *reading) wrong(field, message string) {
	r.problems = append(r.problems, document.Problem{Path: field, Message: message})
}

// recurrence returns the recurrence of the choice, nil for a job without one.
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
		r.wrong(field, words.Say("builder.number", document.Cut(text, maxQuoted), least))
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
			r.wrong(field, words.Say("builder.numbers", document.Cut(one, maxQuoted)))
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
				r.wrong(field, words.Say("builder.occurrence", document.Cut(strings.TrimSpace(one), maxQuoted)))
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
