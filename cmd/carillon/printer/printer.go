package printer

import (
	"fmt"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// Printer prints records line by line, in columns that fit what came so far.
type Printer struct {
	t      *terminal.Terminal
	layout string // how times are shown
	width  int
	headed bool // no heading is to be printed any more
}

// New returns a printer that shows times in a layout: [terminal.Clock] or
// [terminal.Dated].
func New(t *terminal.Terminal, layout string) *Printer { return &Printer{t, layout, 20, true} }

// Headed makes the printer print a heading before its first line.
func (p *Printer) Headed() *Printer {
	p.headed = false
	return p
}

// longestColumn is the width beyond which a long name moves its own line only.
const longestColumn = 48

// Widen makes room for a name.
func (p *Printer) Widen(job string) { p.width = max(p.width, min(len(job), longestColumn)) }

// Print prints a record or, for programs, its document.
func (p *Printer) Print(r *client.Record) {
	if p.t.JSON {
		_ = p.t.PrintJSON(r.Document) // a reader that has gone ends the process
		return
	}
	p.Widen(r.Job)
	show := func(at time.Time) string { return p.t.Time(at, p.layout) }
	if !p.headed {
		p.headed = true
		p.line(fmt.Sprintf("%-*s", len(show(r.Ended)), "STARTED"), "JOB", fmt.Sprintf("%-9s", "OUTCOME"), "LATE", "DETAILS")
	}
	e := event{r}
	outcome := p.t.Paint(colours[e.outcome()], fmt.Sprintf("%-9s", e.outcome()))
	p.line(show(e.at()), r.Job, outcome, e.lateness(), p.t.Paint(terminal.Dim, e.detail(show)))
}

func (p *Printer) line(at, job, outcome, late, detail string) {
	line := fmt.Sprintf("%s  %-*s  %s  %10s  %s", at, p.width, job, outcome, late, detail)
	p.t.Printf("%s\n", strings.TrimRight(line, " "))
}
