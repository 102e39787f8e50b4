package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/printer"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
)

type historyCmd struct {
	remote.Server
	remote.Within

	Name    string              `arg:"" name:"job" optional:"" help:"Name of a job: job, or collection/job; collection/ for all of its jobs, or nothing for all there are."`
	Follow  bool                `short:"f" help:"Print what happens from now on, until interrupted or the job is deleted."`
	Top     *int                `short:"n" help:"How many of the last records to show. Default: 20; with --follow none." placeholder:"N"`
	Outcome []scheduler.Outcome `help:"Show only this outcome: completed, failed, faulted, postponed or skipped. May be repeated, or have several with commas." enum:"completed,failed,faulted,postponed,skipped" placeholder:"OUTCOME"`
	Action  []string            `help:"Show only this action: its type, such as Http or StorageQueue, or mainAction or errorAction. As often as --outcome." placeholder:"ACTION"`
	Target  []string            `help:"Show only what loads this target: example.com:443, or example.com for all of its ports. Likewise." placeholder:"HOST[:PORT]"`
	Manual  *bool               `help:"Show only what was run by hand; with --no-manual, only what was not." negatable:""`
	Late    bool                `help:"Show only occurrences that began later than lateAfter of their job allows."`
	Since   string              `help:"Show only what started not before: 2026-03-08, 2026-03-08T02:30Z, or 2h, which is two hours ago." placeholder:"TIME"`
	Until   string              `help:"Show only what started not after, likewise." placeholder:"TIME"`
	ByEnd   bool                `help:"Have --since and --until ask when it ended, not when it started."`
	Last    bool                `help:"Show the last attempt whole. It takes no number: -n 3 shows the last three records."`
	Earlier bool                `help:"Show what an attempt left that was under way when its job was deleted."`
	UID     string              `name:"uid" help:"Show the records of the job with this uid; --json has it." placeholder:"UID"`
}

// Help shows examples.
func (historyCmd) Help() string {
	return `Every due instant ends in a record: an attempt that completed or failed, an occurrence that faulted (it failed
after all retries), or instants that were skipped or postponed, with the reason. Records are shown oldest
first; --json prints them as the API has them, one on a line. Times are those of this machine's zone; --utc shows UTC.

A live tail outlives its scheduler: it tries again, and goes on where it was. It ends when its job is deleted.

Examples:

    carillon history report
    carillon history report --last
    carillon history report -n 100 --outcome failed,faulted --since 2h
    carillon history --since 2026-03-08 --until 2026-03-09T12:00Z
    carillon history billing/ --target example.com --action http,errorAction
    carillon history report --manual --since 1h --by-end
    carillon history --follow report -n 3
    carillon history --follow billing/
    carillon history report --follow --json`
}

// shownRecords is how many records are shown when nobody says how many.
const shownRecords = 20

// Run shows a history.
func (c historyCmd) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	q, err := c.query(t, time.Now())
	if err != nil {
		return err
	}
	switch {
	case c.Last:
		return c.last(ctx, t, api, q)
	case c.Follow:
		return c.follow(ctx, t, api, q)
	}
	q.Page = c.top(shownRecords)
	records, err := client.Collect(api.History(ctx, q), q.Page)
	if errors.Is(err, scheduler.ErrNotFound) && q.Key.Job != "" && !q.Earlier && q.UID == "" {
		err = terminal.Hinted(err, "if it was deleted, --earlier shows what its last attempts left")
	}
	if err == nil && len(records) == 0 && !t.JSON {
		t.Complain("hint", "there are no such records")
	}
	p := printer.New(t, terminal.Dated).Headed()
	for _, r := range records {
		p.Widen(r.Job)
	}
	for _, r := range slices.Backward(records) {
		p.Print(r)
	}
	return err
}

// top is how many records are wanted.
func (c historyCmd) top(otherwise int) int {
	if c.Top == nil {
		return otherwise
	}
	return *c.Top
}

// query is what is asked for.
func (c historyCmd) query(t *terminal.Terminal, now time.Time) (q client.HistoryQuery, err error) {
	if c.Top != nil && *c.Top < 1 {
		return q, terminal.Usagef("--top must be at least 1")
	}
	if _, err := strconv.ParseUint(c.Name, 10, 64); c.Last && err == nil {
		return q, terminal.Hinted(terminal.Usagef("--last takes no number: it shows the last attempt whole"),
			"-n "+c.Name+" shows the last "+c.Name+" records: carillon history JOB -n "+c.Name)
	}
	if c.Last && (c.Follow || c.Top != nil) {
		return q, terminal.Usagef("--last shows one attempt; leave --follow and --top out")
	}
	q.RecordFilter = scheduler.RecordFilter{
		Outcomes: c.Outcome, Targets: c.Target, Manual: c.Manual, Late: c.Late, UID: c.UID, Earlier: c.Earlier,
	}
	for _, action := range c.Action {
		if phase, ok := scheduler.PhaseOf(action); ok {
			q.Phases = append(q.Phases, phase)
		} else {
			q.ActionTypes = append(q.ActionTypes, action)
		}
	}
	since, until := &q.Since, &q.Until
	if c.ByEnd {
		since, until = &q.EndedSince, &q.EndedUntil
	}
	for _, m := range []struct {
		flag, text string
		at         *time.Time
	}{{"since", c.Since, since}, {"until", c.Until, until}} {
		if m.text == "" {
			continue
		}
		if *m.at, err = t.Moment(m.flag, m.text, now); err != nil {
			return q, err
		}
	}
	if c.ByEnd && c.Since == "" && c.Until == "" {
		return q, terminal.Usagef("--by-end goes with --since or --until")
	}
	if !until.IsZero() && until.Before(*since) {
		return q, terminal.Usagef("--until is before --since")
	}
	q.Key, err = c.target()
	return q, err
}

// target is whose history is asked for: of a job, of a collection, or of all.
func (c historyCmd) target() (scheduler.Key, error) {
	collection, whole := strings.CutSuffix(c.Name, "/")
	switch {
	case c.Name == "":
		return scheduler.Key{}, nil
	case !whole:
		return c.Key(c.Name)
	}
	if err := scheduler.ValidateCollection(collection); err != nil {
		return scheduler.Key{}, terminal.Usage(err)
	}
	return scheduler.Key{Collection: collection}, nil
}

// follow prints what happens.
func (c historyCmd) follow(ctx context.Context, t *terminal.Terminal, api *client.Client, q client.HistoryQuery) error {
	p := printer.New(t, terminal.Dated)
	err := api.Follow(ctx, client.Follow{
		HistoryQuery: q, Last: c.top(0), Record: p.Print,
		Lost: func(err error) { t.Complain("note", err.Error()+"; trying again") },
		Missed: func(after, first uint64) {
			t.Complain("note", fmt.Sprintf("what was recorded after %d and before %d is not kept any more", after, first))
		},
	})
	if ended, ok := errors.AsType[*client.EndedError](err); ok {
		t.Complain("note", "nothing more can come: "+ended.Message)
		return nil
	}
	return err
}

// last prints the last attempt.
func (c historyCmd) last(ctx context.Context, t *terminal.Terminal, api *client.Client, q client.HistoryQuery) error {
	if len(q.Outcomes) == 0 {
		q.Outcomes = attempts
	}
	q.Page = 1
	records, err := client.Collect(api.History(ctx, q), q.Page)
	if err != nil {
		return err
	}
	switch {
	case len(records) == 0 && t.JSON:
		return t.PrintJSON(nil)
	case len(records) == 0:
		t.Complain("hint", "there is no such attempt yet")
		return nil
	}
	r := records[0]
	if t.JSON {
		return t.PrintJSON(r.Document)
	}
	printer.Field(t, "Job", r.Job)
	printer.Attempt(t, r, c.request(ctx, api, r))
	return nil
}

// attempts are the outcomes of attempts.
var attempts = []scheduler.Outcome{scheduler.OutcomeCompleted, scheduler.OutcomeFailed}

// request is what the record's job asks for now; "" when there is no such job.
func (c historyCmd) request(ctx context.Context, api *client.Client, r *client.Record) string {
	if c.Earlier || c.UID != "" {
		return ""
	}
	k, err := c.Key(r.Job)
	if err != nil {
		return ""
	}
	j, err := api.Get(ctx, k)
	if err != nil {
		return "" // the record tells enough
	}
	return requestOf(j.Properties, r)
}
