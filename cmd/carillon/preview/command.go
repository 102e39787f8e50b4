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

// Help shows examples of every language.
func (Command) Help() string {
	return `Shows when a job would run: the schedule in plain English, its next runs, and the effect of clock changes.
It needs no scheduler and changes nothing. Times are written 2026-03-08, 2026-03-08T02:30Z or 2026-03-08T02:30-05:00;
those without an offset are UTC.

obsidian: cron with L, W and #, optional year and time zone, several patterns united by semicolons; @daily and the like;
@recur for intervals. The fields are minute, hour, day of month, month and day of week.

    carillon preview '15 5,17 * * 3#3' --tz America/New_York
    carillon preview '0 9 L * * 2030 Europe/Paris; 0 9 15W * *'
    carillon preview '@recur 3 weeks 2026-01-15 08:00'

dsari: cron with an optional sixth field for seconds; H is derived from the job's name, R is random. An RRULE
derives omitted parts from the name.

    carillon preview 'H H(0-7) * * *' --dialect dsari --name backup
    carillon preview 'RRULE:FREQ=DAILY;BYDAY=MO,TH' --dialect dsari --name backup

rfc5545: RRULE, EXRULE, RDATE and EXDATE of iCalendar, usually with a DTSTART, from which they count.

    carillon preview 'DTSTART;TZID=Europe/Berlin:20260101T090000 RRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1'
    carillon preview 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO' --start 2026-01-05T09:00Z
    carillon preview 'DTSTART:20260105T090000Z RRULE:FREQ=DAILY EXDATE;VALUE=DATE:20260501,20261225'

awx: RRULE with the restrictions and messages of AWX.

    carillon preview 'DTSTART;TZID=America/New_York:20300115T120000 RRULE:FREQ=DAILY;INTERVAL=1;COUNT=7' --dialect awx

A job's recurrence, or a whole job, in JSON or YAML. Flags override the job's settings.

    carillon preview '{"frequency": "month", "schedule": {"monthDays": [-1], "hours": [18], "minutes": [0]}}'
    carillon preview examples/jobs/weekdays.json --count 20

For other programs:

    carillon preview '0 9 * * 1-5' --count 100 --json
    carillon preview '0 9 * * 1-5' --tz Europe/Paris --name standup --ics > standup.ics`
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
