package jobs

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/forecast"
)

// Forecast shows planned runs and their peaks.
type Forecast struct {
	remote.Server

	Collection string `short:"c" help:"Include only jobs of this collection. Default: all." placeholder:"NAME"`
	Hours      int    `help:"Hours to forecast, 1 to 168." default:"24"`
	From       string `help:"Start of the forecast: 2026-03-09, 2026-03-08T02:30Z. Default: now." placeholder:"TIME"`
	Proposals  int    `help:"Maximum number of proposed edits." default:"100"`
	Apply      bool   `help:"Apply the proposed edits after a dry run of all."`
	DryRun     bool   `help:"With --apply: only the dry run."`
	Yes        bool   `short:"y" help:"With --apply: do not ask."`
}

// Run prints the forecast.
func (c Forecast) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	q := client.ForecastQuery{Collection: c.Collection, Hours: c.Hours, Proposals: c.Proposals}
	if c.Hours < 1 || c.Hours > forecast.MaxHours {
		return terminal.Usagef("--hours must be 1 to %d", forecast.MaxHours)
	}
	if c.DryRun && !c.Apply {
		return terminal.Usagef("--dry-run goes with --apply")
	}
	var err error
	if q.From, err = t.Moment("from", c.From, time.Now()); err != nil {
		return err
	}
	f, err := api.Forecast(ctx, q)
	if err != nil {
		return err
	}
	if c.Apply {
		return c.apply(ctx, t, api, &f.Report)
	}
	if t.JSON {
		return t.PrintJSON(f.Document)
	}
	printForecast(t, &f.Report)
	return nil
}

// apply applies all proposals after a dry run.
func (c Forecast) apply(ctx context.Context, t *terminal.Terminal, api *client.Client, r *forecast.Report) error {
	if len(r.Proposals) == 0 {
		t.Complain("hint", "nothing is proposed")
	}
	edits := terminal.All(r.Proposals, func(p forecast.Proposal) proposed { return proposed{p} })
	try := client.PutOptions{DryRun: true}
	patch := func(o client.PutOptions, done string) error {
		return remote.EachOf(ctx, t, "job", edits, func(p proposed) (string, error) {
			_, err := api.Patch(ctx, scheduler.KeyIn("", p.Job), p.Patch, o)
			return done, err
		}, func(p proposed) map[string]any {
			return map[string]any{"patch": p.Patch, "peak": p.Peak}
		})
	}
	if c.DryRun {
		return patch(try, "would do")
	}
	for _, p := range r.Proposals {
		if _, err := api.Patch(ctx, scheduler.KeyIn("", p.Job), p.Patch, try); err != nil {
			return terminal.Hinted(fmt.Errorf("%s: %w", p.Job, err), "nothing was changed: the dry run failed")
		}
	}
	if !c.Yes && len(r.Proposals) > 0 {
		what := terminal.Plural(len(r.Proposals), "job", "jobs")
		if yes, err := remote.Confirm[string](ctx, t, "change", what, "--dry-run lists them", nil); err != nil || !yes {
			return err
		}
	}
	return patch(client.PutOptions{}, "changed")
}

// proposed is a proposal that is printed as the name of its job.
type proposed struct{ forecast.Proposal }

func (p proposed) String() string { return p.Job }

// printForecast prints a report for people.
func printForecast(t *terminal.Terminal, r *forecast.Report) {
	const minute = "2006-01-02 15:04 Z07:00"
	t.Printf("%s of %s from %s to %s: %.1f a minute, %d at most\n\n", terminal.Plural(r.Runs, "run", "runs"),
		terminal.Plural(r.Jobs, "job", "jobs"), t.Time(r.From, minute), t.Time(r.To, minute), r.Average, r.Peak)
	for _, line := range chart(r, t) {
		t.Printf("%s\n", line)
	}
	if len(r.Targets) > 0 {
		rows := terminal.All(r.Targets, func(one forecast.Target) []string {
			return []string{one.Target, strconv.Itoa(one.Jobs), strconv.Itoa(one.Runs), strconv.Itoa(one.Peak), t.Time(one.PeakAt, minute)}
		})
		t.Printf("\n")
		_ = t.Table([]string{"TARGET", "JOBS", "RUNS", "PEAK", "AT"}, rows)
	}
	for i, p := range r.Peaks {
		if i == peaksShown {
			break
		}
		t.Printf("\n%s  %s\n", t.Paint(terminal.Yellow, t.Time(p.At, minute)), terminal.Plural(p.Runs, "run", "runs"))
		names := p.Names[:min(namesShown, len(p.Names))]
		more := ""
		if p.Jobs > len(names) {
			more = fmt.Sprintf(", and %d more", p.Jobs-len(names))
		}
		t.Printf("  %s%s\n", strings.Join(names, ", "), more)
	}
	for _, note := range r.Notes {
		t.Printf("%s %s\n", t.Paint(terminal.Yellow, "note:"), note)
	}
	if len(r.Proposals) == 0 {
		return
	}
	t.Printf("\nProposed: %s, for a peak of %d\n", terminal.Plural(len(r.Proposals), "edit", "edits"), r.PeakAfter)
	for _, p := range r.Proposals[:min(proposalsShown, len(r.Proposals))] {
		t.Printf("  %s  %s\n", p.Job, p.Patch)
	}
	if left := len(r.Proposals) - proposalsShown; left > 0 {
		t.Printf("  and %d more; --json has them all\n", left)
	}
	t.Complain("hint", `"carillon forecast --apply --dry-run" tries them all, and without --dry-run they are carried out`)
}

// Limits of the output for people.
const (
	peaksShown     = 3
	namesShown     = 5
	proposalsShown = 5
	chartBars      = 24
)

// chart draws the highest minute of each stretch of time, in as many lines as there are hours, or days of a week.
func chart(r *forecast.Report, t *terminal.Terminal) []string {
	stretch := max(60, len(r.PerMinute)/chartBars)
	var lines []string
	for begin := 0; begin < len(r.PerMinute) && r.Peak > 0; begin += stretch {
		most := 0
		for _, n := range r.PerMinute[begin:min(begin+stretch, len(r.PerMinute))] {
			most = max(most, n)
		}
		width := max(10, min(60, t.Width()-30))
		bar := strings.Repeat("█", (most*width+r.Peak-1)/r.Peak)
		at := t.Time(r.From.Add(time.Duration(begin)*time.Minute), "Mon 15:04")
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%s  %8d  %s", at, most, bar), " "))
	}
	return lines
}
