package printer

import (
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/client"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

// Printer prints records line by line, in columns that fit what came so far.
type Printer struct {
	t     *terminal.Terminal
	times string // how the time is shown
	width int
}

// New returns a printer that shows times in a layout: [Clock] or [Dated].
func New(t *terminal.Terminal, times string) *Printer { return &Printer{t, times, 20} }

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
	e := event{r}
	outcome := p.t.Paint(colours[e.outcome()], fmt.Sprintf("%-9s", e.outcome()))
	line := fmt.Sprintf("%s  %-*s  %s  %10s  %s", local(e.at(), p.times), p.width, r.Job,
		outcome, e.lateness(), p.t.Paint(terminal.Dim, e.detail()))
	p.t.Printf("%s\n", strings.TrimRight(line, " "))
}
