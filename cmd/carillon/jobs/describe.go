package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/printer"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Describe shows a summary of one job.
type Describe struct {
	remote.Server
	remote.Within

	Name string `arg:"" name:"job" help:"Name of a job: job, or collection/job."`
}

// described is the output for a job.
type described struct {
	Job   json.RawMessage `json:"job"`
	Since time.Time       `json:"historySince,omitzero"`
	Runs  []time.Time     `json:"runs"`
	Last  json.RawMessage `json:"lastAttempt"`
}

// Run describes a job.
func (c Describe) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	k, err := c.Key(c.Name)
	if err != nil {
		return err
	}
	j, err := api.Get(ctx, k)
	if err != nil {
		return err
	}
	records, err := client.Collect(api.History(ctx, client.HistoryQuery{
		Key: k, RecordFilter: scheduler.RecordFilter{Outcomes: attempts}, Page: 1,
	}), 1)
	if err != nil {
		return err
	}
	runs := nextRuns(ctx, j)
	reasons, err := api.Why(ctx, k, "")
	if err != nil && j.State != scheduler.Damaged {
		return err
	}
	if t.JSON {
		d := described{Job: j.Document, Since: reasons.HistorySince, Runs: runs, Last: json.RawMessage("null")}
		for _, r := range records {
			d.Last = r.Document
		}
		return t.PrintJSON(d)
	}
	describeJob(t, j, runs, time.Now())
	if since := reasons.HistorySince; !since.IsZero() {
		printer.Field(t, "History", "complete since "+t.Time(since, terminal.Dated))
	}
	if len(records) == 0 {
		printer.Field(t, "Last attempt", "none yet")
		return nil
	}
	t.Printf("\nLast attempt\n")
	printer.Attempt(t, records[0], requestOf(j.Properties, records[0]))
	return nil
}

// describeJob prints a summary of a job.
func describeJob(t *terminal.Terminal, j *client.Job, runs []time.Time, now time.Time) {
	var p struct {
		Description string          `json:"description"`
		Trigger     json.RawMessage `json:"trigger"`
		OnSuccess   []string        `json:"onSuccess"`
		OnFailure   []string        `json:"onFailure"`
		OnlyIf      json.RawMessage `json:"onlyIf"`
		Action      struct {
			RetryPolicy json.RawMessage `json:"retryPolicy"`
		} `json:"action"`
	}
	_ = json.Unmarshal(j.Properties, &p) // it was read before
	s := &j.Status
	printer.Field(t, "Job", j.Name)
	printer.Field(t, "Description", p.Description)
	printer.Field(t, "State", stateOf(j))
	if !j.PausedUntil.IsZero() {
		printer.Field(t, "Paused", "until "+t.Time(j.PausedUntil, terminal.Dated)+`: "carillon enable `+j.Name+`" ends that`)
	}
	if j.State == scheduler.Damaged {
		printer.Field(t, "Problem", s.Message)
		return
	}
	printer.Field(t, "Schedule", When(j))
	printer.Field(t, "Trigger", string(p.Trigger))
	printer.Field(t, "On success", strings.Join(p.OnSuccess, ", "))
	printer.Field(t, "On failure", strings.Join(p.OnFailure, ", "))
	printer.Field(t, "Only if", string(p.OnlyIf))
	printer.Field(t, "Inherited", string(j.Inherited))
	for i, r := range requestsOf(j.Properties) {
		name := "Request"
		if i > 0 {
			name = "On error"
		}
		printer.Field(t, name, r.String())
	}
	printer.Field(t, "Retries", retriesOf(p.Action.RetryPolicy))
	if len(runs) == 0 && onEvents(j) {
		printer.Field(t, "Next", next(j, now))
	}
	for i, at := range runs {
		text := t.Time(at, terminal.Dated)
		if i == 0 {
			printer.Field(t, "Next", text+", "+next(j, now))
		} else {
			printer.Field(t, "Then", text)
		}
	}
	counts := fmt.Sprintf("%d, %d failed", s.Executions, s.Failures)
	if s.Errors > 0 {
		counts += fmt.Sprintf("; error actions: %d, %d failed", s.Errors, s.ErrorFails)
	}
	printer.Field(t, "Attempts", counts)
	printer.Field(t, "Occurrences", fmt.Sprintf("%d, %d faulted", s.Occurrences, s.Faults))
}

// stateOf describes a job's state and activity.
func stateOf(j *client.Job) string {
	switch s := &j.Status; {
	case s.Running:
		return string(j.State) + ", running or about to"
	case s.Retry > 0:
		return fmt.Sprintf("%s, waiting for retry %d", j.State, s.Retry)
	case j.State == scheduler.Disabled:
		return `disabled: "carillon enable ` + j.Name + `" resumes it`
	}
	return string(j.State)
}

// shownRuns is how many runs are shown.
const shownRuns = 5

// nextRuns returns the job's next runs. The first comes from the scheduler. The others are computed here if possible.
func nextRuns(ctx context.Context, j *client.Job) []time.Time {
	runs := []time.Time{}
	first := j.Status.Next
	if first.IsZero() {
		return runs
	}
	runs = append(runs, first)
	var p map[string]json.RawMessage
	if json.Unmarshal(j.Properties, &p) != nil || p["recurrence"] == nil {
		return runs
	}
	var recurrence map[string]any
	_ = json.Unmarshal(p["recurrence"], &recurrence) // it is an object
	query := map[string]any{"name": j.Name, "properties": p, "after": first, "count": shownRuns - 1}
	if recurrence["count"] != nil { // the number of remaining runs is unknown
		return runs
	}
	if countsFromRuns(recurrence) {
		changed, err := json.Marshal(recurrence)
		if err != nil {
			return runs
		}
		p["recurrence"] = changed
		delete(p, "startTime")
	}
	if p["startTime"] == nil { // it counts from when it was put, and so from each of its runs
		if p["jitter"] != nil || j.Status.Retry > 0 {
			return runs
		}
		query["now"] = first
	}
	body, err := json.Marshal(query)
	if err != nil {
		return runs
	}
	preview, err := control.Previewer{}.Preview(ctx, body)
	if err != nil {
		return runs // of a later version of the scheduler
	}
	for _, at := range preview.Times {
		runs = append(runs, at.UTC())
	}
	return runs
}

// countsFromRuns reports whether a recurrence counts from its last execution. An @recur loses its start then.
func countsFromRuns(recurrence map[string]any) bool {
	cron, _ := recurrence["cron"].(string)
	anchor, _ := recurrence["anchor"].(string)
	fields := strings.Fields(cron)
	if len(fields) < 3 || !strings.EqualFold(fields[0], "@recur") || strings.EqualFold(anchor, "grid") {
		return strings.EqualFold(anchor, "lastExecution")
	}
	recurrence["cron"] = strings.Join(fields[:3], " ")
	return true
}

// retriesOf describes a retry policy; the default one if policy is empty.
func retriesOf(policy json.RawMessage) string {
	var p struct {
		Type     string `json:"retryType"`
		Interval string `json:"retryInterval"`
		Count    *int   `json:"retryCount"`
	}
	if len(policy) > 0 && json.Unmarshal(policy, &p) != nil {
		return string(policy)
	}
	if strings.EqualFold(p.Type, "none") {
		return "none"
	}
	count := scheduler.DefaultRetryCount
	if p.Count != nil {
		count = *p.Count
	}
	return fmt.Sprintf("%s, %s, at most %d", cmp.Or(strings.ToLower(p.Type), "fixed"), cmp.Or(p.Interval, "PT30S"), count)
}

// requestsOf are what all actions of a job ask for.
func requestsOf(properties json.RawMessage) []v1.Request {
	v, err := document.Parse(properties)
	if err != nil {
		return nil // it was read before
	}
	return v1.Requests(v)
}

// requestOf describes the request of a record's action in one line, or returns "" if the job no longer has the
// action.
func requestOf(properties json.RawMessage, r *client.Record) string {
	one, _ := v1.RequestOf(requestsOf(properties), &r.RecordForm)
	return one.String()
}

// Verb applies an operation to each of several jobs.
type Verb struct {
	remote.Jobs

	verb, done string // verb of the command, and its participle for the message
	do         func(*client.Client, context.Context, scheduler.Key) (*client.Job, error)
}

// Run applies the operation.
func (c Verb) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	if c.Picks() {
		return c.Operate(ctx, t, api, v1.OperationRequest{Verb: c.verb})
	}
	keys, err := c.Keys(ctx, t, api, c.verb, true)
	if err != nil {
		return err
	}
	return remote.EachOf(ctx, t, "job", keys, func(k scheduler.Key) (string, error) {
		j, err := c.do(api, ctx, k)
		return resultOf(j, c.done), err
	}, nil)
}

// resultOf is the word for an edit of a job: done, or unchanged if it had no effect.
func resultOf(j *client.Job, done string) string {
	if j != nil && j.Result == v1.Unchanged {
		return string(v1.Unchanged)
	}
	return done
}

// The commands that apply an operation to each of several jobs.
var (
	Enable = Verb{verb: "enable", done: "enabled", do: (*client.Client).Enable}
	Delete = Verb{
		verb: "delete", done: "deleted", do: func(api *client.Client, ctx context.Context, k scheduler.Key) (*client.Job, error) {
			return nil, api.Delete(ctx, k)
		},
	}
)

// Pause pauses jobs.
type Pause struct {
	remote.Jobs

	Until string `required:"true" help:"When the jobs resume: 2h, 9:00, 'tomorrow 9:00', monday, 2026-03-02T09:00 on the clock of each job, or 2026-03-02T09:00Z." placeholder:"TIME"`
}

// pausing is a job to pause, and the end of the pause.
type pausing struct {
	job   scheduler.Key
	until time.Time
	t     *terminal.Terminal
}

func (p *pausing) String() string {
	return p.job.String() + " until " + p.t.Time(p.until, terminal.Dated)
}

// Run pauses the jobs.
func (c Pause) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	if c.Picks() {
		return c.Operate(ctx, t, api, v1.OperationRequest{Verb: "pause", Until: c.Until})
	}
	keys, err := c.Keys(ctx, t, api, "pause", true)
	if err != nil {
		return err
	}
	jobs := terminal.All(keys, func(k scheduler.Key) *pausing { return &pausing{k, time.Time{}, t} })
	return remote.EachOf(ctx, t, "job", jobs, func(p *pausing) (string, error) {
		j, err := api.Pause(ctx, p.job, c.Until)
		if err == nil {
			p.until = j.PausedUntil
		}
		return resultOf(j, "paused"), err
	}, func(p *pausing) map[string]any { return map[string]any{"job": p.job.String(), "pausedUntil": p.until} })
}
