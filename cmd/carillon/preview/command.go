package preview

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Command is `carillon preview`.
type Command struct {
	Expression []string `arg:"" name:"expression" optional:"" help:"A schedule in any language or the text of a job, in single quotes, or a job file."`

	File     string `short:"f" help:"A job file to read instead, or - for standard input." placeholder:"FILE"`
	Dialect  string `help:"Language: obsidian, dsari, rfc5545 or awx. Default: rfc5545 for an RRULE, else obsidian." enum:"obsidian,dsari,rfc5545,awx," default:"" placeholder:"NAME"`
	TZ       string `name:"tz" help:"Time zone of a schedule that names none. Default: UTC." placeholder:"ZONE"`
	Start    string `help:"The job's startTime, also where an RRULE without DTSTART counts from. Default there: now." placeholder:"TIME"`
	End      string `help:"Time after which the job does not run." placeholder:"TIME"`
	Name     string `help:"Name of the job, from which dsari derives H." placeholder:"NAME"`
	Count    int    `short:"n" help:"How many runs to list, 1-1000." default:"10" placeholder:"N"`
	After    string `help:"List only runs after this time." placeholder:"TIME"`
	Now      string `help:"When the job is created. Default: now, or --after if that is earlier." placeholder:"TIME"`
	Gap      string `help:"Policy for times that the clock skips: next (the first moment after the gap), shift or skip." enum:"next,shift,skip," default:"" placeholder:"POLICY"`
	Overlap  string `help:"Policy for times that the clock repeats: first or both." enum:"first,both," default:"" placeholder:"POLICY"`
	ICS      bool   `name:"ics" help:"Print a calendar feed (iCalendar)."`
	Calendar *bool  `negatable:"" help:"Draw the months, with the days of runs marked. Default: on a terminal."`
}

// Run shows when a job would run.
func (c Command) Run(ctx context.Context, t *terminal.Terminal) error {
	flags, faults := c.flags()
	if c.ICS && t.JSON {
		faults = append(faults, misuse("--ics and --json exclude each other", ""))
	}
	s, wrong := c.subject(ctx, t)
	faults = append(faults, wrong...)
	if len(faults) > 0 {
		return refuse(t, faults)
	}
	s.take(flags)
	plan, faults := s.plan(flags.now)
	if len(faults) > 0 {
		return refuse(t, faults)
	}
	p := &preview{
		Preview: plan.PreviewPaused(s.paused, flags.after, c.Count), subject: s, flags: flags, count: c.Count, strict: s.strict(flags.now),
	}
	switch {
	case t.JSON:
		return p.printJSON(t)
	case c.ICS:
		p.printFeed(t)
	default:
		p.print(t)
		if months := c.Calendar; months == nil && t.Interactive() || months != nil && *months {
			p.printMonths(t)
		}
	}
	return nil
}

// flags are the flags of a preview that say something about the job.
type flags struct {
	name       string
	zone       *time.Location // nil: not given
	dst        spec.DST
	start, end time.Time // zero: not given
	after, now time.Time // after is zero if not given
	present    bool      // now was not given: it is the present
}

// flags reads the flags. Without --now, the present is rounded up to a whole second.
func (c Command) flags() (f flags, faults []fault) {
	wrong := func(flag string, err error) {
		if err != nil {
			faults = append(faults, misuse("--"+flag+": "+err.Error(), ""))
		}
	}
	moment := func(flag, text string) (at time.Time) {
		if text == "" {
			return at
		}
		at, err := document.ParseTime(text)
		wrong(flag, err)
		return at
	}
	f.name = c.Name[strings.LastIndexByte(c.Name, '/')+1:]
	f.start, f.end = moment("start", c.Start), moment("end", c.End)
	f.after, f.now = moment("after", c.After), moment("now", c.Now)
	if c.Now == "" {
		f.now, f.present = roundUp(time.Now().UTC(), time.Second), true
		if !f.after.IsZero() && f.after.Before(f.now) { // the job exists by then
			f.now = f.after
		}
	}
	if c.TZ != "" {
		zone, err := spec.LoadZone(c.TZ)
		wrong("tz", err)
		f.zone = zone
	}
	if c.Count < 1 || c.Count > control.MaxPreview {
		wrong("count", fmt.Errorf("%d is not in 1-%d", c.Count, control.MaxPreview))
	}
	f.dst = spec.NewDST(c.Gap, c.Overlap)
	return f, faults
}

// roundUp returns the first moment not before t that is a multiple of d.
func roundUp(t time.Time, d time.Duration) time.Time {
	if down := t.Truncate(d); down.Before(t) {
		return down.Add(d)
	}
	return t.Round(0)
}
