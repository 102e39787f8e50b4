// Package top has the command that watches all schedulers.
package top

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/failures"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// Command shows what all schedulers do.
type Command struct{ remote.Server }

// every is the interval of updates.
const every = time.Second

// snapshot is an update.
type snapshot struct {
	Activity *v1.Activity       `json:"activity"`
	Failures []*v1.FailureGroup `json:"failures"`
}

// Run shows the activity.
func (Command) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for first := true; ; first = false {
		s, err := look(ctx, api)
		switch {
		case err != nil && (first || ctx.Err() != nil):
			return err
		case err != nil:
			t.Complain("note", err.Error()+"; trying again")
		case t.JSON:
			if err := t.PrintJSON(s); err != nil {
				return err
			}
		case !t.Interactive():
			return show(t, s)
		default:
			if err := redraw(t, s, first); err != nil {
				return err
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func look(ctx context.Context, api *client.Client) (s snapshot, err error) {
	if s.Activity, err = api.Activity(ctx); err == nil {
		s.Failures, err = api.Failures(ctx, "")
	}
	return s, err
}

// redraw replaces the content of the terminal.
func redraw(t *terminal.Terminal, s snapshot, first bool) error {
	var text bytes.Buffer
	if err := show(&terminal.Terminal{Out: &text, Err: &text, Lookup: t.Lookup, UTC: t.UTC, Colour: t.Colour}, s); err != nil {
		return err
	}
	begin := "\x1b[H" // the first line
	if first {
		begin += "\x1b[2J"
	}
	_, err := io.WriteString(t.Out, begin+strings.ReplaceAll(text.String(), "\n", "\x1b[K\n")+"\x1b[J")
	return err
}

// shown limits the rows of a table, so that all tables are in sight.
const shown = 10

func show(t *terminal.Terminal, s snapshot) error {
	a := s.Activity
	span := func(s scheduler.Seconds) string { return terminal.Span(time.Duration(s)) }
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	t.Printf("%s  %d attempts running, %d runs waiting for a slot, %s\n\n", t.Time(a.At, terminal.Clock), a.InFlight, a.Waiting,
		terminal.Plural(a.Schedulers, "scheduler", "schedulers"))
	var rows [][]string
	for _, c := range []v1.ActivityCounts{a.Recent, a.Hour} {
		runs, length := c.Completed+c.Faulted, a.At.Sub(c.Since)
		rows = append(rows, []string{
			terminal.Span(length), number(runs), fmt.Sprintf("%.1f", float64(runs)/length.Seconds()), number(c.Faulted),
			number(c.FailedAttempts), number(c.Skipped), number(c.Postponed), span(c.LatenessP50), span(c.LatenessP99),
		})
	}
	heading := []string{"LAST", "RUNS", "PER SECOND", "FAULTED", "FAILED ATTEMPTS", "SKIPPED", "POSTPONED", "LATENESS P50", "P99"}
	if err := t.Table(heading, rows); err != nil {
		return err
	}
	if len(a.Targets) > 0 {
		t.Printf("\n")
		rows = terminal.All(a.Targets[:min(shown, len(a.Targets))], func(one v1.ActivityTarget) []string {
			state, colour := stateOf(one), terminal.Yellow
			if state == "open" || state == "failing" {
				colour = terminal.Red
			}
			return []string{
				one.Target, t.Paint(colour, state), strconv.Itoa(one.InFlight), strconv.Itoa(one.Waiting),
				number(one.Attempts), number(one.Failed), span(one.Mean),
			}
		})
		if err := t.Table([]string{"TARGET", "STATE", "RUNNING", "WAITING", "ATTEMPTS", "FAILED", "MEAN"}, rows); err != nil {
			return err
		}
	}
	if len(s.Failures) == 0 {
		return nil
	}
	t.Printf("\n")
	return failures.Print(t, s.Failures[:min(shown, len(s.Failures))], nil, "")
}

// stateOf returns the state of a target as the console shows it.
func stateOf(one v1.ActivityTarget) string {
	switch {
	case one.State == "open", one.State == "half":
		return one.State
	case one.Failed > 0:
		return "failing"
	}
	return cmp.Or(one.State, "slow")
}
