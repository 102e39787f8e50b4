package builder

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Outlook is what a schedule means, for people: the template "outlook" shows it.
type Outlook struct {
	English    string
	Expression string // what the fields become, as a document has it
	Zone       string
	SameZone   bool // the browser's is the schedule's
	Runs       []run
	Complete   bool // nothing comes after the runs
	Notes      []string
	Year       *year // nil: there is nothing to show
	Wrong      int   // how many problems there are; then there is nothing else
}

// run is one of the next runs.
type run struct {
	At     time.Time
	Local  string // on the clock of the schedule
	Change string // what the clock has done since the run before
}

// Look asks what a schedule means, for a job of that name; browser is the zone of who asks. Problems that only the scheduler
// finds are added to those of the schedule and its form. The error is that of the service, but for an [scheduler.ErrInvalid].
func (s *Schedule) Look(ctx context.Context, p service.Previewer, name string, browser *time.Location) (*Outlook, error) {
	o := &Outlook{Expression: s.Expression()}
	if s.OnRequest && len(s.Problems) == 0 {
		o.English = words.Say("builder.asked.english")
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
	for _, w := range s.doubts(name) {
		o.Notes = append([]string{w}, o.Notes...)
	}
	return o, nil
}

// refused notes the problems that the scheduler has found. Those of a form that has problems of its own may follow from
// those, so fields that have one get no other.
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

// Invalid notes problems with paths seen from a job's properties, and returns those that no field of the builder shows.
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

// doubts are what somebody may not expect who takes a plain choice, or a hash for a job that has no name yet.
func (s *Schedule) doubts(name string) []string {
	if name == "" && s.Form.When() == choiceCron && s.Form.text("cron.dialect") == string(spec.Dsari) &&
		isHashed.MatchString(s.Form.text("recurrence.cron")) {
		return []string{words.Say("builder.nameless")}
	}
	if s.Form.When() == choiceMonthly && s.Form.Or("plain.on", "day") == "day" {
		if day := s.Form.text("plain.day"); day == "29" || day == "30" || day == "31" {
			return []string{words.Say("builder.short-months", day)}
		}
	}
	return nil
}

// Expression is what the fields become, as it stands in a document.
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

// fill tells what was found.
func (o *Outlook) fill(found *service.Outlook, browser *time.Location) {
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
		one := run{At: t, Local: local.Format("Mon 2006-01-02 15:04")}
		if seconds {
			one.Local = local.Format("Mon 2006-01-02 15:04:05")
		}
		if _, offset := local.Zone(); offset != before {
			if d := time.Duration(offset-before) * time.Second; d > 0 {
				one.Change = words.Say("builder.forward", short(d))
			} else {
				one.Change = words.Say("builder.back", short(-d))
			}
			before = offset
		}
		o.Runs = append(o.Runs, one)
	}
	o.Year = newYear(found)
}

// short is a length of time as people write it: 1h, 30m.
func short(d time.Duration) string {
	return strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m")
}

// sentence makes one of a phrase.
func sentence(phrase string) string {
	r, n := utf8.DecodeRuneInString(phrase)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(r)) + phrase[n:] + "."
}
