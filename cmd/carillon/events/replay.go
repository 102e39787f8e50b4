package events

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// Replay applies stored events to a job again.
type Replay struct {
	remote.Server
	remote.Within

	Name   string `arg:"" name:"event" help:"Name of the events: event, or collection.event."`
	Since  string `required:"true" help:"Only events since: 2026-03-08, 2026-03-08T02:30Z, or 2h (two hours ago)." placeholder:"TIME"`
	Until  string `help:"Only events before this time, in the same forms. Default: now." placeholder:"TIME"`
	To     string `required:"true" name:"to" help:"Name of the job: job, or collection/job." placeholder:"JOB"`
	Rate   string `help:"Maximum rate." default:"10/s" placeholder:"N/s"`
	DryRun bool   `help:"Show the events that would start a run, and start none."`
}

// stored is an event to replay.
type stored struct {
	sequence uint64
	time     time.Time
}

// Run replays the events.
func (c Replay) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	k, err := c.Key(c.To)
	if err != nil {
		return err
	}
	rate, err := strconv.ParseFloat(strings.TrimSuffix(c.Rate, "/s"), 64)
	if err != nil || !(rate >= 0.001 && rate <= 1000) {
		return terminal.Usagef("--rate: %q is not a rate between 0.001/s and 1000/s", c.Rate)
	}
	all, err := c.find(ctx, t, api, time.Now())
	if err != nil {
		return err
	}
	if len(all) == 0 {
		t.Complain("hint", "no events match")
	}
	answers, err := c.replay(ctx, t, api, k, all, time.Duration(float64(time.Second)/rate))
	if t.JSON {
		return errors.Join(t.PrintJSON(terminal.List[*v1.ReplayedEvent]{Value: answers}), err)
	}
	started := 0
	for _, v := range answers {
		if v.Starts {
			started++
		}
	}
	t.Printf("%s of %d, %s\n", terminal.Plural(len(answers), "event", "events"), len(all), terminal.Plural(started, "run", "runs"))
	return err
}

// find returns the events of the flags, oldest first.
func (c Replay) find(ctx context.Context, t *terminal.Terminal, api *client.Client, now time.Time) (all []stored, err error) {
	of, err := topic(c.Collection, c.Name)
	if err != nil {
		return nil, err
	}
	q := client.EventQuery{Collection: of.Collection, Name: of.Name}
	if q.Since, err = t.Moment("since", c.Since, now); err != nil {
		return nil, err
	}
	until, err := t.Moment("until", c.Until, now)
	switch {
	case err != nil:
		return nil, err
	case c.Until == "":
		until = now
	case !until.After(q.Since):
		return nil, terminal.Usagef("--until: must be after --since")
	}
	for e, err := range api.Events(ctx, q, 0) {
		if err != nil {
			return nil, err
		}
		if e.Time.Before(until) {
			all = append(all, stored{e.Sequence, e.Time})
		}
	}
	slices.Reverse(all)
	return all, nil
}

// replay replays events, one in each interval. It returns the answers until the first error.
func (c Replay) replay(
	ctx context.Context, t *terminal.Terminal, api *client.Client, k scheduler.Key, all []stored, interval time.Duration,
) (answers []*v1.ReplayedEvent, err error) {
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for i, e := range all {
		if i > 0 && !c.DryRun {
			select {
			case <-ticks.C:
			case <-ctx.Done():
				return answers, context.Cause(ctx)
			}
		}
		v, err := api.ReplayEvent(ctx, k, e.sequence, time.Now(), c.DryRun)
		if errors.Is(err, scheduler.ErrNotFound) && i > 0 {
			v, err = &v1.ReplayedEvent{Sequence: e.sequence, Message: err.Error()}, nil // it has expired meanwhile
		}
		if err != nil {
			return answers, fmt.Errorf("event %d: %w; to continue, use --since %s", e.sequence, err, e.time.Format(time.RFC3339Nano))
		}
		answers = append(answers, v)
		if !t.JSON {
			c.print(t, v)
		}
	}
	return answers, nil
}

func (c Replay) print(t *terminal.Terminal, v *v1.ReplayedEvent) {
	result, detail := "started", v.Occurrence
	switch {
	case !v.Starts:
		result, detail = "ignored", v.Message
	case c.DryRun:
		result, detail = "matches", v.Key
	}
	t.Printf("%s\n", strings.TrimRight(fmt.Sprintf("%-8s %d  %s", result, v.Sequence, detail), " "))
}
