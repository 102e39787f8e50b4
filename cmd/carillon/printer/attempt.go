package printer

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// Attempt prints a complete record for people. request describes the attempt's request, or is "" if unknown.
func Attempt(t *terminal.Terminal, r *client.Record, request string) {
	e := event{r}
	line := func(name, format string, args ...any) { Field(t, name, fmt.Sprintf(format, args...)) }
	outcome := t.Paint(colours[e.outcome()], string(e.outcome()))
	if r.StatusCode != 0 {
		outcome += fmt.Sprintf(", status %d", r.StatusCode)
	}
	line("Outcome", "%s", outcome)
	line("Occurrence", "%s", r.Occurrence)
	line("Repeats", "%s", r.Resubmits)
	if r.Cause != nil {
		line("Started by", "%s", r.Cause.Describe())
	}
	line("Data", "%s", r.Data)
	line("Action", "%s", e.action())
	line("Request", "%s", request)
	line("Target", "%s", r.Target)
	line("Planned", "%s", t.Time(r.Nominal, terminal.Dated))
	if e.attempted() {
		line("Started", "%s, %s after it was due", t.Time(r.Started, terminal.Dated), milliseconds(r.Lateness))
		line("Duration", "%s", milliseconds(r.Duration))
	}
	line("Reason", "%s", r.Reason)
	if r.Count > 0 {
		line("Instants", "%s", e.instants(func(at time.Time) string { return t.Time(at, terminal.Dated) }))
	}
	if r.RetryAfter > 0 {
		line("Retry after", "%s, as the target asks", time.Duration(r.RetryAfter))
	}
	line("Message", "%s", r.Short())
	for h := range strings.Lines(r.Headers) {
		if isDiagnostic(h) {
			line("Header", "%s", strings.TrimSpace(h))
		}
	}
	line("Trace", "%s", r.Trace)
	line("Response", "%s", strings.TrimSpace(r.Response))
	line("Hint", "%s", Hint(r))
}

// Field prints a name and a value, whose further lines are below its first; ""
// is left out.
func Field(t *terminal.Terminal, name, value string) {
	if value == "" {
		return
	}
	value = strings.ReplaceAll(strings.ReplaceAll(value, "\r\n", "\n"), "\n", "\n"+strings.Repeat(" ", fieldWidth))
	t.Printf("%-*s%s\n", fieldWidth, name+":", value)
}

// fieldWidth is the column of the values.
const fieldWidth = 14

// action says which action ran, and which try it was.
func (e event) action() string {
	text := strings.TrimSpace(e.Action + " " + e.ActionType)
	if e.ActionPath != "" {
		text += ", " + e.ActionPath
	}
	if e.Retry > 0 {
		text += fmt.Sprintf(", retry %d", e.Retry)
	}
	if e.Manual {
		text += ", manual run"
	}
	return text
}

// diagnostic lists the words in names of response headers that explain an error: the remedy, and the ids that the
// target's operators need.
var diagnostic = []string{
	"retry-after", "www-authenticate", "location", "content-type", "server", "request-id", "correlation-id", "trace", "error",
	"warning", "ratelimit",
}

// isDiagnostic reports whether a header explains an error.
func isDiagnostic(header string) bool {
	name, _, _ := strings.Cut(strings.ToLower(header), ":")
	return slices.ContainsFunc(diagnostic, func(word string) bool { return strings.Contains(name, word) })
}

// Hint advises what to do about a record, or returns "".
func Hint(r *client.Record) string {
	o := scheduler.Outcome(strings.ToLower(r.Status))
	switch {
	case o == scheduler.OutcomeCompleted, o == scheduler.OutcomePostponed:
		return ""
	case o == scheduler.OutcomeSkipped:
		return skipHints[r.Reason]
	case r.StatusCode == 0 && r.Attempt != "":
		return "the target did not respond: check its address, and whether the scheduler can reach it"
	}
	return scheduler.StatusHint(r.StatusCode)
}

// skipHints say what to do about instants that were skipped.
var skipHints = map[scheduler.Reason]string{
	scheduler.ReasonOverlap:  `an earlier occurrence was still running: see overlap in "carillon docs jobs"`,
	scheduler.ReasonCatchUp:  `no scheduler ran at these times: see catchUp in "carillon docs jobs"`,
	scheduler.ReasonOnlyIf:   `see onlyIf in "carillon docs jobs"`,
	scheduler.ReasonTrigger:  `see trigger in "carillon docs jobs"`,
	scheduler.ReasonDisabled: `the job was disabled: "carillon enable" enables it`,
	scheduler.ReasonCostly:   `the job has ended: simplify its schedule; see "carillon docs limits"`,
	scheduler.ReasonDST:      `the clock skipped these times: see "carillon docs daylight-saving"`,
}
