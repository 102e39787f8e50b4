package builder

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Prefix is what the names of all fields begin with.
const Prefix = "schedule."

// The choices of the field when. Those before choiceAzure are the plain ones.
const (
	choiceAsked    = "asked" // only when somebody asks for it
	choiceOnce     = "once"
	choiceEvery    = "every"
	choiceDaily    = "daily"
	choiceWeekdays = "weekdays"
	choiceWeekly   = "weekly"
	choiceMonthly  = "monthly"
	choiceYearly   = "yearly"
	choiceAzure    = "azure"
	choiceCron     = "cron"
	choiceRRule    = "rrule"
)

// The choices, as they are shown.
var (
	plainChoices = []string{
		choiceEvery, choiceDaily, choiceWeekdays, choiceWeekly, choiceMonthly, choiceYearly, choiceOnce, choiceAsked,
	}
	languages = []string{choiceCron, choiceRRule, choiceAzure}
)

// Form is what the fields hold, as text.
type Form struct {
	// Problems are what is wrong, with the paths of fields: their names without [Prefix].
	Problems document.Problems

	// Proposed says that the zone was proposed, and chosen by nobody.
	Proposed bool

	values url.Values // by names without the prefix
}

// Typed returns what was typed into a form, so that it can be shown again.
func Typed(values url.Values) Form {
	f := Form{values: url.Values{}}
	for name, v := range values {
		if short, ok := strings.CutPrefix(name, Prefix); ok {
			f.values[short] = v
		}
	}
	if !slices.Contains(plainChoices, f.When()) && !slices.Contains(languages, f.When()) {
		f.set("when", choiceDaily)
	}
	return f
}

// Sent is what the fields send when nobody changes them.
func (f Form) Sent() url.Values {
	values := url.Values{}
	for name, v := range f.values {
		values[Prefix+name] = slices.Clone(v)
	}
	return values
}

// When is the choice that was made.
func (f Form) When() string { return f.values.Get("when") }

// Value is what a field holds.
func (f Form) Value(name string) string { return f.values.Get(name) }

// Or is what a field holds, or a text for one that is empty.
func (f Form) Or(name, otherwise string) string {
	if v := f.text(name); v != "" {
		return v
	}
	return otherwise
}

// Has reports whether a field of several values holds one.
func (f Form) Has(name, value string) bool {
	return slices.ContainsFunc(f.values[name], func(v string) bool { return strings.EqualFold(v, value) })
}

// Wrong is a problem of a field. Where it names a column, Here is what stands there in what was typed.
type Wrong struct {
	Text                string
	Before, Here, After string
}

// column is how a problem begins that names one.
var column = regexp.MustCompile(`^column (\d{1,5})[,:]`)

// Wrong are the problems of a field, and of what lies below its path.
func (f Form) Wrong(name string) []Wrong {
	var list []Wrong
	for _, p := range f.Problems {
		if f.Place(p.Path) != name {
			continue
		}
		w := Wrong{Text: p.Message}
		if m := column.FindStringSubmatch(p.Message); m != nil && "recurrence."+f.When() == name {
			at, _ := strconv.Atoi(m[1])
			w.mark([]rune(f.text(name)), at-1)
		}
		list = append(list, w)
	}
	return list
}

// around is how much of a text is shown on either side of what is marked.
const around = 60

// mark marks the word of a text that begins at a place.
func (w *Wrong) mark(typed []rune, at int) {
	if at < 0 || at > len(typed) {
		return
	}
	end := at
	for end < len(typed) && !strings.ContainsRune(" \n;,", typed[end]) {
		end++
	}
	w.Before, w.Here = string(typed[max(0, at-around):at]), string(typed[at:min(end, at+around)])
	w.After = string(typed[end:min(len(typed), end+around)])
	if w.Here == "" {
		w.Here = "\u2423" // an open box: something is missing here
	}
}

// Moment is what a field for a time holds. A browser's own field for that takes it if it is local.
type Moment struct {
	Text  string
	Local bool
}

// Moment returns what a field for a time holds.
func (f Form) Moment(name string) *Moment {
	text := f.text(name)
	_, err := time.Parse(layouts[0], text)
	if err != nil {
		_, err = time.Parse(layouts[1], text)
	}
	return &Moment{text, err == nil || text == ""}
}

// More reports whether one of the fields that are folded away says something.
func (f Form) More() bool {
	for _, name := range moreFields {
		if f.text(name) != "" || len(f.Wrong(name)) > 0 {
			return true
		}
	}
	return false
}

// moreFields are those that most jobs do without.
var moreFields = []string{
	"startTime", "recurrence.endTime", "recurrence.count", "dst.gap", "dst.overlap", "jitter",
	"catchUp.policy", "catchUp.window", "overlap",
}

// Plain are the plain choices, and Languages the others.
func (f Form) Plain() []string { return plainChoices }

// Languages are the choices for who knows one.
func (f Form) Languages() []string { return languages }

// Zones are the names of time zones.
func (f Form) Zones() []string { return spec.ZoneNames() }

// Weekdays are the days of a week, and Months those of a year, as they are written in cron.
func (f Form) Weekdays() []string { return weekdays }

// Units are those of lengths of time, and Frequencies those of Azure Scheduler.
func (f Form) Units() []string { return plainUnits }

// Frequencies are the units of Azure Scheduler.
func (f Form) Frequencies() []string { return append(slices.Clone(plainUnits), "year") }

// Choices are those of a field.
func (f Form) Choices(name string) []string { return choices[name] }

var choices = map[string][]string{
	"plain.nth": {"1", "2", "3", "4", "last"}, // weekday of a month
	"dst.gap":   {"next", "shift", "skip"}, "dst.overlap": {"first", "both"},
	"catchUp.policy": {"once", "all", "skip"}, "overlap": {"skip", "allow"},
	"recurrence.schedule.weekDays": weekdayNames,
	"recurrence.anchor":            {"lastExecution"},
	"cron.dialect":                 {string(spec.Obsidian), string(spec.Dsari)},
	"rrule.dialect":                {string(spec.RFC5545), string(spec.AWX)},
}

// weekdayNames are the weekdays of Azure Scheduler.
var weekdayNames = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

// Kept are the fields that nobody sees: what some members were, so that they stay as they are written.
func (f Form) Kept() []string {
	var list []string
	for _, name := range []string{
		"was.startTime", "was.endTime", "was.timeZone", "was.dialect", "was.anchor", "was.interval", "was.weekDays",
	} {
		if f.text(name) != "" {
			list = append(list, name)
		}
	}
	return list
}

// Months are the months of a year.
func (f Form) Months() []string { return months }

var (
	weekdays = []string{"MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"}
	months   = []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}
)

// text is what a field holds, without space around it.
func (f Form) text(name string) string { return strings.TrimSpace(f.values.Get(name)) }

func (f Form) set(name string, values ...string) {
	f.values[name] = values
}

// Propose sets the zone of a schedule that has none yet.
func (f Form) Propose(zone string) Form {
	if f.text("timeZone") == "" {
		f.set("timeZone", zone)
		f.Proposed = true
	}
	return f
}

// Owns reports whether a path of a job's properties is that of a field, or lies in one: problems of it are shown here.
func Owns(path string) bool {
	member, _, _ := strings.Cut(path, ".")
	return slices.Contains(members, member)
}

// Members are those of a job's properties that the fields make.
func Members() []string { return slices.Clone(members) }

// members are those of a job's properties that the fields make.
var members = []string{"recurrence", "startTime", "timeZone", "dst", "jitter", "catchUp", "overlap"}

// Place returns the field that shows a problem: that with the path, or around it, or the one of the plain choice which the
// path was made of.
func (f Form) Place(path string) string {
	plain := slices.Contains(plainChoices, f.When())
	switch path {
	case "recurrence.interval", "recurrence.frequency":
		switch {
		case plain:
			return "plain.n"
		case f.When() != choiceAzure:
			return "recurrence." + f.When()
		}
	case "recurrence.cron":
		if plain {
			return "plain.times"
		}
	case "recurrence.dialect":
		return f.When() + ".dialect"
	case "startTime":
		if f.When() == choiceOnce {
			return "plain.once"
		}
	}
	for name := path; name != ""; {
		if slices.Contains(shown, name) {
			return name
		}
		cut := strings.LastIndexAny(name, ".[")
		name = name[:max(cut, 0)]
	}
	switch f.When() {
	case choiceAzure:
		return "recurrence.frequency"
	case choiceCron, choiceRRule:
		return "recurrence." + f.When()
	}
	return "when"
}

// Label is what the field is called that shows a problem.
func (f Form) Label(path string) string { return words.Say(labels[f.Place(path)]) }

// labels are the texts of fields.
var labels = map[string]string{
	"when": "builder.when", "paste": "builder.paste", "timeZone": "builder.zone", "plain.once": "builder.once", "plain.n": "builder.every",
	"plain.times": "builder.times", "plain.days": "builder.days", "plain.day": "builder.on.day.label", "plain.date": "builder.date",
	"recurrence.frequency": "builder.frequency", "recurrence.interval": "builder.interval", "recurrence.anchor": "builder.anchor",
	"recurrence.schedule.minutes": "builder.minutes", "recurrence.schedule.hours": "builder.hours",
	"recurrence.schedule.months":   "builder.months",
	"recurrence.schedule.weekDays": "builder.weekDays", "recurrence.schedule.monthDays": "builder.monthDays",
	"recurrence.schedule.monthlyOccurrences": "builder.occurrences", "recurrence.cron": "builder.cron", "recurrence.rrule": "builder.rrule",
	"cron.dialect": "builder.dialect", "rrule.dialect": "builder.dialect", "startTime": "builder.start",
	"recurrence.endTime": "builder.end",
	"recurrence.count":   "builder.count", "dst.gap": "builder.gap", "dst.overlap": "builder.twice", "jitter": "builder.jitter",
	"catchUp.policy": "builder.catchup", "catchUp.window": "builder.window", "overlap": "builder.overlap",
}

// shown are the fields that have a place for problems.
var shown = append([]string{
	"when", "paste", "timeZone", "plain.once", "plain.n", "plain.times", "plain.days", "plain.day", "plain.date",
	"recurrence.frequency", "recurrence.interval", "recurrence.schedule.minutes", "recurrence.schedule.hours",
	"recurrence.schedule.weekDays", "recurrence.schedule.monthDays", "recurrence.schedule.monthlyOccurrences",
	"recurrence.schedule.months", "recurrence.anchor", "recurrence.cron", "cron.dialect", "recurrence.rrule", "rrule.dialect",
}, moreFields...)
