package builder

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Outlook is the preview of a schedule, shown by the template "outlook".
type Outlook struct {
	English    string
	Expression string // the resulting recurrence, as in a document
	Zone       string
	SameZone   bool // the browser's zone is the schedule's
	Runs       []run
	Complete   bool // no further runs follow
	Notes      []string
	Year       *year // nil: nothing to show
	Wrong      int   // number of problems; if not 0, the other fields are empty
}

// run is an upcoming run.
type run struct {
	At     time.Time
	Local  string // on the clock of the schedule
	Change string // DST change since the previous run
}

// Look previews a schedule for a job with the given name; browser is the zone of the browser. Problems that only the
// scheduler detects are added to the schedule and its form. The error is the service's, except for
// [scheduler.ErrInvalid].
func (s *Schedule) Look(ctx context.Context, p control.Previewer, name string, browser *time.Location) (*Outlook, error) {
	o := &Outlook{Expression: s.Expression()}
	if (s.OnRequest || s.OnEvents) && len(s.Problems) == 0 {
		o.English = words.Text("builder." + s.Form.When() + ".english")
		return o, nil
	}
	members := map[string]any{"name": name}
	for member, v := range s.Members {
		members[member] = v
	}
	body, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	found, err := p.Outlook(ctx, body)
	if err != nil {
		if !errors.Is(err, scheduler.ErrInvalid) {
			return nil, err
		}
		s.refused(err)
	}
	if o.Wrong = len(s.Problems); o.Wrong > 0 || found == nil {
		return o, nil
	}
	o.fill(found, browser)
	for _, w := range s.warnings(name) {
		o.Notes = append([]string{w}, o.Notes...)
	}
	return o, nil
}

// refused adds the problems that the scheduler detected. They may result from problems of the form, so a field with a
// problem gets no other.
func (s *Schedule) refused(err error) {
	var had []string
	for _, p := range s.Problems {
		had = append(had, s.Form.Place(p.Path))
	}
	for _, p := range scheduler.ProblemsIn(err) {
		if !slices.Contains(had, s.Form.Place(p.Path)) {
			s.Problems = append(s.Problems, p)
		}
	}
	s.Form.Problems = s.Problems
}

// Invalid adds problems with paths relative to a job's properties, and returns those that no field of the form shows.
func (s *Schedule) Invalid(problems document.Problems) (others document.Problems) {
	for _, p := range problems {
		p.Path = strings.TrimPrefix(p.Path, "properties.")
		if Owns(p.Path) {
			s.Problems = append(s.Problems, p)
		} else {
			others = append(others, p)
		}
	}
	s.Form.Problems = s.Problems
	return others
}

// warnings returns warnings about a plain choice with possibly unexpected effects, and about a hash for a job without a
// name.
func (s *Schedule) warnings(name string) []string {
	if name == "" && s.Form.When() == choiceCron && s.Form.text("cron.dialect") == string(spec.Dsari) &&
		isHashed.MatchString(s.Form.text("recurrence.cron")) {
		return []string{words.Text("builder.nameless")}
	}
	if s.Form.When() == choiceMonthly && s.Form.Or("plain.on", "day") == "day" {
		if day := s.Form.text("plain.day"); day == "29" || day == "30" || day == "31" {
			return []string{words.Text("builder.short-months", day)}
		}
	}
	return nil
}

// Expression returns the recurrence as in a document.
func (s *Schedule) Expression() string {
	var rec recurrence
	switch err := json.Unmarshal(s.Members["recurrence"], &rec); {
	case s.OnRequest:
		return `state: disabled`
	case err != nil && s.Members["startTime"] != nil:
		return "startTime: " + strings.Trim(string(s.Members["startTime"]), `"`)
	case err != nil:
		return ""
	case rec.Cron != "":
		return rec.Cron
	case rec.RRule != "":
		return rec.RRule
	}
	return string(s.Members["recurrence"])
}

// fill copies the service's preview.
func (o *Outlook) fill(found *control.Outlook, browser *time.Location) {
	o.English = sentence(found.Description)
	o.Zone, o.Complete, o.Notes = found.Zone.String(), found.Complete, nil
	for _, n := range found.Notes {
		o.Notes = append(o.Notes, sentence(n))
	}
	o.SameZone = browser.String() == o.Zone
	_, before := time.Now().In(found.Zone).Zone()
	seconds := slices.ContainsFunc(found.Times, func(t time.Time) bool { return t.Second() != 0 })
	for _, t := range found.Times {
		local := t.In(found.Zone)
		one := run{At: t, Local: words.Date(local, "Mon 2006-01-02 15:04")}
		if seconds {
			one.Local = words.Date(local, "Mon 2006-01-02 15:04:05")
		}
		if _, offset := local.Zone(); offset != before {
			if d := time.Duration(offset-before) * time.Second; d > 0 {
				one.Change = words.Text("builder.forward", frame.Took(d))
			} else {
				one.Change = words.Text("builder.back", frame.Took(-d))
			}
			before = offset
		}
		o.Runs = append(o.Runs, one)
	}
	o.Year = newYear(found)
}

// sentence converts a phrase to a sentence.
func sentence(phrase string) string {
	r, n := utf8.DecodeRuneInString(phrase)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(r)) + phrase[n:] + "."
}

// year is the number of runs per day of a year: a column for each week, a row for each weekday, in two bands, one below
// the other.
type year struct {
	Width, Height int
	Days          []day
	Weekdays      []mark
	Months        []mark
	Legend        []level
	Table         []month
	Text          string // description for screen readers
	Cut           bool   // some days are missing
}

// day is a square.
type day struct {
	X, Y int
	Heat int    // 0-6
	Text string // "" for a day without runs
}

// mark is a positioned word.
type mark struct {
	X, Y int
	Text string
}

// level is the legend of a heat.
type level struct {
	Heat int
	Text string
}

// month is a row of the equivalent table.
type month struct {
	Name string
	Runs int
	Days int // days with runs
}

// The dimensions of the drawing.
const (
	cell   = 12 // a day with its margin
	left   = 30 // for the names of weekdays
	top    = 16 // for the names of months
	square = 10
	half   = 27 // weeks in one of two bands, so that a year fits on a phone
	band   = top + 7*cell + 6
)

// at returns the position of a day, counted from the first Monday.
func at(i int) (x, y int) {
	week := i / 7
	return left + week%half*cell, week/half*band + top + i%7*cell
}

// heats are the colors with the maximum number of runs per day. They are fixed, so that schedules are comparable. The
// palest color is unused, so that days with and without a run are easy to distinguish.
var heats = []struct{ heat, most int }{{0, 0}, {2, 1}, {3, 4}, {4, 24}, {5, 288}, {6, math.MaxInt}}

// heat returns the color of a number of runs.
func heat(runs int) int {
	return heats[slices.IndexFunc(heats, func(h struct{ heat, most int }) bool { return runs <= h.most })].heat
}

// newYear returns the chart of a preview.
func newYear(o *control.Outlook) *year {
	if len(o.Days) == 0 {
		return nil
	}
	y := &year{Width: left + half*cell, Height: 2*band - 6, Cut: len(o.Days) < control.Weeks*7}
	for _, row := range []int{0, 2, 4} {
		name := words.Date(time.Date(2024, time.January, 1+row, 0, 0, 0, 0, time.UTC), "Mon") // it began on a Monday
		for _, first := range []int{0, half * 7} {
			_, top := at(first + row)
			y.Weekdays = append(y.Weekdays, mark{0, top + square - 1, name})
		}
	}
	for _, h := range heats {
		y.Legend = append(y.Legend, level{h.heat, words.Text("builder.heat." + strconv.Itoa(h.heat))})
	}
	total, busiest, most := 0, 0, time.Time{}
	for i, runs := range o.Days {
		date := time.Date(o.From.Year(), o.From.Month(), o.From.Day()+i, 12, 0, 0, 0, time.UTC) // each day has a noon
		d := day{Heat: heat(runs)}
		d.X, d.Y = at(i)
		if runs > 0 {
			d.Text = words.Date(date, "Mon "+words.Text("date.long")) + ": " + words.Count("common.runs", runs)
		}
		if runs > busiest {
			busiest, most = runs, date
		}
		total += runs
		y.Days = append(y.Days, d)
		y.month(date, i, runs)
	}
	y.Text = words.Text("builder.year.none")
	if total > 0 {
		y.Text = words.Text("builder.year.text", words.Count("common.runs", total), words.Date(o.From, words.Text("date.long")),
			words.Count("common.runs", busiest), words.Date(most, words.Text("date.long")))
	}
	return y
}

// month adds a day to its month.
func (y *year) month(date time.Time, i, runs int) {
	if name := words.Date(date, "January 2006"); len(y.Table) == 0 || y.Table[len(y.Table)-1].Name != name {
		y.Table = append(y.Table, month{Name: name})
		if x, top := at(i - i%7); date.Day() <= 7 && i/7 < control.Weeks-1 {
			y.Months = append(y.Months, mark{x, top - 5, words.Date(date, "Jan")})
		}
	}
	m := &y.Table[len(y.Table)-1]
	m.Runs += runs
	if runs > 0 {
		m.Days++
	}
}
