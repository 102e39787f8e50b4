package jobs

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
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/explain"
)

// History shows records.
type History struct {
	remote.Server
	remote.Within

	Name    string              `arg:"" name:"job" optional:"" help:"Name of a job: job, or collection/job; collection/ for all its jobs. Default: all jobs."`
	Follow  bool                `short:"f" help:"Print records as they happen, until interrupted or the job is deleted."`
	Top     *int                `short:"n" help:"Number of records to show. Default: 20; 0 with --follow." placeholder:"N"`
	Outcome []scheduler.Outcome `help:"Show only this outcome: completed, failed (an attempt), faulted (a run, after all retries), postponed or skipped. Separate with commas, or repeat." enum:"completed,failed,faulted,postponed,skipped" placeholder:"OUTCOME"`
	Action  []string            `help:"Show only this action: its type, such as Http or StorageQueue, or mainAction or errorAction. Separate with commas, or repeat." placeholder:"ACTION"`
	Target  []string            `help:"Show only this target: example.com:443, or example.com for all ports. Separate with commas, or repeat." placeholder:"HOST[:PORT]"`
	Manual  *bool               `help:"Show only manual runs; with --no-manual, only scheduled ones." negatable:""`
	Late    bool                `help:"Show only occurrences that started later than the lateAfter of their job."`
	Since   string              `help:"Show only records started since: 2026-03-08, 2026-03-08T02:30Z, or 2h (two hours ago)." placeholder:"TIME"`
	Until   string              `help:"Show only records started until: formats as in --since." placeholder:"TIME"`
	ByEnd   bool                `help:"Compare --since and --until with the end, not the start."`
	Group   string              `help:"Count the records of each job, target or outcome instead of listing them." enum:",job,target,outcome" default:"" placeholder:"job|target|outcome"`
	Last    bool                `help:"Show the last attempt in full. Takes no number; -n 3 shows the last three records."`
	Earlier bool                `help:"Show records of attempts that outlived the deletion of their job."`
	UID     string              `name:"uid" help:"Show the records of the job with this uid, which --json prints." placeholder:"UID"`
}

// shownRecords is the default number of records.
const shownRecords = 20

// Run shows a history.
func (c History) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	q, err := c.query(t, time.Now())
	if err != nil {
		return err
	}
	switch {
	case c.Group != "" && (c.Last || c.Follow || c.Top != nil):
		return terminal.Usagef("--group counts all records; leave --follow, --last and --top out")
	case c.Last:
		return c.last(ctx, t, api, q)
	case c.Group != "":
		return c.count(ctx, t, api, q)
	case c.Follow:
		return c.follow(ctx, t, api, q)
	}
	q.Page = c.top(shownRecords)
	records, err := client.Collect(api.History(ctx, q), q.Page)
	if errors.Is(err, scheduler.ErrNotFound) && q.Key.Job != "" && !q.Earlier && q.UID == "" {
		err = terminal.Hinted(err, "if it was deleted, --earlier shows the records of its last attempts")
	}
	if err == nil && len(records) == 0 && !t.JSON {
		t.Complain("hint", "no records match")
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
func (c History) top(otherwise int) int {
	if c.Top == nil {
		return otherwise
	}
	return *c.Top
}

// query returns the query of the flags.
func (c History) query(t *terminal.Terminal, now time.Time) (q client.HistoryQuery, err error) {
	if c.Top != nil && *c.Top < 1 {
		return q, terminal.Usagef("--top must be at least 1")
	}
	if _, err := strconv.ParseUint(c.Name, 10, 64); c.Last && err == nil {
		return q, terminal.Hinted(terminal.Usagef("--last takes no number: it shows the last attempt in full"),
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
	if *since, err = t.Moment("since", c.Since, now); err != nil {
		return q, err
	}
	if *until, err = t.Moment("until", c.Until, now); err != nil {
		return q, err
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

// target returns the scope of the history: a job, a collection, or everything.
func (c History) target() (scheduler.Key, error) {
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

// follow prints records as they happen.
func (c History) follow(ctx context.Context, t *terminal.Terminal, api *client.Client, q client.HistoryQuery) error {
	p := printer.New(t, terminal.Dated)
	err := api.Follow(ctx, client.Follow{
		HistoryQuery: q, Last: c.top(0), Record: p.Print,
		Lost: func(err error) { t.Complain("note", err.Error()+"; trying again") },
		Missed: func(after, first uint64) {
			t.Complain("note", fmt.Sprintf("records after %d and before %d have expired", after, first))
		},
	})
	if ended, ok := errors.AsType[*client.EndedError](err); ok {
		t.Complain("note", "the tail has ended: "+ended.Message)
		return nil
	}
	return err
}

// last prints the last attempt.
func (c History) last(ctx context.Context, t *terminal.Terminal, api *client.Client, q client.HistoryQuery) error {
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
		t.Complain("hint", "no attempt matches yet")
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

// request describes the current request of the record's job, or returns "" if the job no longer exists.
func (c History) request(ctx context.Context, api *client.Client, r *client.Record) string {
	if c.Earlier || c.UID != "" {
		return ""
	}
	k, err := c.Key(r.Job)
	if err != nil {
		return ""
	}
	j, err := api.Get(ctx, k)
	if err != nil {
		return "" // the record is sufficient
	}
	return requestOf(j.Properties, r)
}

// Account lists every due instant with its record.
type Account struct {
	remote.Server
	remote.Within
	remote.Picked

	Names []string `arg:"" name:"job" optional:"" help:"Names of jobs: job, or collection/job. Default: all jobs of the collection."`
	From  string   `required:"true" help:"Start of the period: 2026-03-08, 2026-03-08T02:30Z, or 2h (two hours ago)." placeholder:"TIME"`
	To    string   `help:"End of the period, exclusive. Default: now." placeholder:"TIME"`
}

// Run accounts for the jobs.
func (c Account) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	now := time.Now()
	from, err := t.Moment("from", c.From, now)
	switch {
	case err != nil:
		return err
	case from.IsZero():
		return terminal.Usagef("--from: has no value")
	}
	var to string
	if c.To != "" {
		until, err := t.Moment("to", c.To, now)
		switch {
		case err != nil:
			return err
		case !from.Before(until):
			return terminal.Usagef("--to must be after --from")
		}
		to = until.UTC().Format(time.RFC3339Nano)
	}
	keys, err := c.keys(ctx, api)
	if err != nil {
		return err
	}
	accounts := []*explain.Account{}
	for _, k := range keys {
		for at := from; !at.IsZero(); {
			a, err := api.Account(ctx, k, at.UTC().Format(time.RFC3339Nano), to)
			if errors.Is(err, scheduler.ErrNotFound) && len(c.Names) == 0 {
				break // deleted since it was listed
			}
			if err != nil {
				return fmt.Errorf("%s: %w", k, err)
			}
			accounts, at = append(accounts, a), a.Next
		}
	}
	return reported(t, len(keys), accounts)
}

// keys returns the jobs that are named or, when none is, picked.
func (c Account) keys(ctx context.Context, api *client.Client) ([]scheduler.Key, error) {
	switch {
	case len(c.Names) == 0:
	case c.Filters() || c.AllCollections:
		return nil, terminal.Usagef("job names exclude --selector, --target and --all-collections")
	default:
		return c.Keys(c.Names)
	}
	q, err := c.Query(c.Within)
	if err != nil {
		return nil, err
	}
	jobs, err := client.Collect(api.List(ctx, q), 0)
	return terminal.All(jobs, (*client.Job).Key), err
}

// reported shows accounts, and returns an error if they are incomplete.
func reported(t *terminal.Terminal, jobs int, accounts []*explain.Account) error {
	var rows [][]string
	var due, lacking, unknown int
	for _, a := range accounts {
		due, lacking = due+a.Due, lacking+a.Lacking
		for _, row := range a.Rows {
			rows = append(rows, accountRow(t, a.Job, row))
		}
		for _, gap := range a.Unknown {
			if gap.Reason != explain.GapMoves {
				unknown++
			}
			from, to := t.Time(gap.From, terminal.Dated), t.Time(gap.To, terminal.Dated)
			rows = append(rows, []string{a.Job, from, to, "", "unknown", gap.Reason, ""})
		}
	}
	if t.JSON {
		if err := t.PrintJSON(terminal.List[*explain.Account]{Value: accounts}); err != nil {
			return err
		}
	} else {
		if err := t.Table([]string{"JOB", "AT", "TO", "COUNT", "OUTCOME", "REASON", "RECORD"}, rows); err != nil {
			return err
		}
		t.Printf("%s of %s, %d without a record of its end\n", terminal.Plural(due, "instant", "instants"),
			terminal.Plural(jobs, "job", "jobs"), lacking)
	}
	switch {
	case lacking > 0:
		return terminal.Hinted(fmt.Errorf("%s without a record of the end", terminal.Plural(lacking, "instant", "instants")),
			"carillon why JOB --at TIME explains one; carillon doctor looks for jobs that have lost their batons")
	case unknown > 0:
		return terminal.Hinted(errors.New("a part of the period cannot be accounted for"),
			"--from a later time; --history-age and --history-per-job of the scheduler say how many records are kept")
	}
	return nil
}

// accountRow shows a row of an account.
func accountRow(t *terminal.Terminal, job string, row explain.AccountRow) []string {
	to, record, colour := "", "", terminal.Green
	if !row.To.IsZero() {
		to = t.Time(row.To, terminal.Dated)
	}
	if row.Record != 0 {
		record = strconv.FormatUint(row.Record, 10)
	}
	switch {
	case row.Outcome.Lacks(), row.Outcome == explain.SettledFaulted:
		colour = terminal.Red
	case row.Outcome != explain.SettledCompleted:
		colour = terminal.Yellow
	}
	reason := string(row.Reason)
	if row.Manual {
		reason = "manual"
	}
	return []string{job, t.Time(row.At, terminal.Dated), to, strconv.Itoa(row.Count), t.Paint(colour, string(row.Outcome)), reason, record}
}

// Why explains why a job ran, or did not.
type Why struct {
	remote.Server
	remote.Within

	Name string `arg:"" name:"job" help:"Name of a job: job, or collection/job."`
	At   string `help:"The time in question: 2026-03-08T02:30 on the job's clock, 2026-03-08T07:30Z, now, 2h or -2h, which is two hours ago, or +2h. Default: the latest that did not run, else the next." placeholder:"TIME"`
}

// Run asks why.
func (c Why) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	k, err := c.Key(c.Name)
	if err != nil {
		return err
	}
	at := c.At
	if _, err := document.ParseDuration(at); err == nil { // as with history: 2h is two hours ago
		at = "-" + at
	}
	if _, err := explain.ParseMoment(at, time.UTC, time.Now()); at != "" && err != nil {
		return terminal.Usagef("--at: %s", err)
	}
	r, err := api.Why(ctx, k, at)
	if err != nil {
		return err
	}
	if t.JSON {
		return t.PrintJSON(r.Document)
	}
	printReasons(t, &r.Answer)
	return nil
}

// printReasons prints an answer as text.
func printReasons(t *terminal.Terminal, a *explain.Answer) {
	printer.Field(t, "Job", a.Job)
	both := func(local string, utc time.Time) string {
		if a.TimeZone == "UTC" {
			return utc.Format(time.RFC3339Nano)
		}
		return local + " " + a.TimeZone + ", " + utc.Format(time.RFC3339Nano)
	}
	printer.Field(t, "Time", both(a.Local, a.At))
	printer.Field(t, "Outcome", t.Paint(colourOf(a.Code), string(a.Code)))
	printer.Field(t, "Answer", a.Answer)
	printer.Field(t, "Occurrence", a.Occurrence)
	printer.Field(t, "By", a.By)
	if a.Before != nil {
		printer.Field(t, "Before", both(a.Before.Local, a.Before.UTC))
	}
	if a.After != nil {
		printer.Field(t, "After", both(a.After.Local, a.After.UTC))
	}
	for _, note := range a.Notes {
		printer.Field(t, "Note", note)
	}
	if len(a.Records) > 0 {
		t.Printf("\n")
	}
	p := printer.New(t, terminal.Dated)
	for i := range a.Records {
		p.Print(&client.Record{RecordForm: a.Records[i], Job: a.Job})
	}
	if a.Hint != "" {
		t.Complain("hint", a.Hint)
	}
}

// colourOf paints good news green, and bad news red.
func colourOf(c explain.Code) string {
	switch c { //nolint:exhaustive // the others are neither
	case explain.Ran, explain.Running, explain.Planned:
		return terminal.Green
	case explain.Failed, explain.Overdue, explain.Unrecorded, explain.Damaged:
		return terminal.Red
	}
	return terminal.Yellow
}
