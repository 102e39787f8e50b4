package preview

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/calendar"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/ical"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// preview holds a job's next runs and the options of the request.
type preview struct {
	spec.Preview

	subject *subject
	flags   flags
	count   int
	strict  *spec.Plan // see subject.strict
}

// notes returns the remarks about assumptions and surprises.
func (p *preview) notes() []string { return append(slices.Clone(p.subject.notes), p.Notes...) }

// moved reports whether a run replaces a time that the clock skipped.
func (p *preview) moved(at time.Time) bool { return p.strict != nil && p.strict.Count(at, at) == 0 }

// print prints the preview for people.
func (p *preview) print(t *terminal.Terminal) {
	t.Printf("%s\n\n", p.Description)
	if len(p.Times) > 0 {
		table := calendar.Table{Zone: p.Zone, Times: p.Times, Moved: p.moved}
		for _, line := range table.Lines(func(text string) string { return t.Paint(terminal.Yellow, text) }) {
			t.Printf("%s\n", line)
		}
		t.Printf("\n")
	}
	for _, note := range p.notes() {
		t.Printf("%s %s\n", t.Paint(terminal.Yellow, "note:"), note)
	}
	t.Printf("%s\n", p.ending())
}

// ending says whether the list is complete, and what follows it.
func (p *preview) ending() string {
	switch {
	case p.Complete && len(p.Times) == 0 && !p.flags.after.IsZero():
		return "The list is complete: nothing runs after " + moment(p.flags.after) + "."
	case p.Complete && len(p.Times) == 0:
		return "The list is complete: it never runs."
	case p.Complete:
		return "The list is complete: " + terminal.Plural(len(p.Times), "run", "runs") + "."
	}
	var ways []string
	if p.count < control.MaxPreview {
		ways = append(ways, "--count "+strconv.Itoa(min(10*p.count, control.MaxPreview))+" shows more")
	}
	if !p.subject.assumed || !p.flags.present { // else the next preview counts from elsewhere
		ways = append(ways, "--after "+moment(p.Times[len(p.Times)-1])+" shows what comes next")
	}
	if len(ways) == 0 {
		return "The list continues."
	}
	return "The list continues: " + strings.Join(ways, ", ") + "."
}

// moment writes an instant as short as [document.ParseTime] takes it.
func moment(t time.Time) string {
	t = t.UTC()
	if t.Truncate(time.Minute).Equal(t) {
		return t.Format("2006-01-02T15:04Z")
	}
	return t.Format(time.RFC3339Nano)
}

// maxMonths is how many months are drawn.
const maxMonths = 12

// printMonths draws the months with the days of the runs marked.
func (p *preview) printMonths(t *terminal.Terminal) {
	months := calendar.Months{Zone: p.Zone, Times: p.Times, Most: maxMonths, Width: t.Width()}
	if t.Colour {
		months.Mark = func(day string) string { return t.Paint(terminal.Reverse, day) }
	}
	lines, left := months.Lines()
	if len(lines) > 0 {
		t.Printf("\n%s\n", strings.Join(lines, "\n"))
	}
	if left > 0 {
		t.Printf("\nand days in %s\n", terminal.Plural(left, "more month", "more months"))
	}
}

// printJSON prints the preview for programs, as the API answers it.
func (p *preview) printJSON(t *terminal.Terminal) error {
	answer := p.Preview
	answer.Notes = p.notes()
	return t.PrintJSON(v1.Preview(&answer))
}

// printFeed prints the preview for calendar programs. Assumptions go to stderr, because the format cannot hold
// them.
func (p *preview) printFeed(t *terminal.Terminal) {
	for _, note := range p.subject.notes {
		t.Complain("note", note)
	}
	if len(p.Times) == 0 {
		t.Complain("note", "the calendar is empty: there are no runs")
	}
	expression := strings.Join(strings.Fields(p.subject.text), " ")
	title := cmp.Or(p.subject.name, expression, p.Description)
	feed := ical.Feed{Name: title, Product: "carillon preview"}
	for _, at := range p.Times {
		feed.Events = append(feed.Events, ical.Event{
			Identity: title, Name: title, Description: p.Description, Stamp: p.flags.now, At: at,
		})
	}
	t.Printf("%s", feed)
}
