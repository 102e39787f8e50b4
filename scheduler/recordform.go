package scheduler

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/internal/plainjson"
)

// RecordForm is a record as users see it: the properties of a record in the APIs, and the fields of its message on
// NATS. Times are RFC 3339 in UTC. The first eight fields match Azure Scheduler's history (its REST API, "List Job
// History"); each retry has a separate record. A faulted record describes the main action's last attempt, except for
// `faultedTime`.
type RecordForm struct {
	// Started is set for attempts, and for faulted records, which describe an attempt.
	Started time.Time `json:"startTime,omitzero"`

	Ended   time.Time `json:"endTime,omitzero"`
	Nominal time.Time `json:"expectedExecutionTime,omitzero"` // by the schedule
	Action  string    `json:"actionName"`                     // MainAction or ErrorAction
	Status  string    `json:"status,omitempty"`               // the outcome: Completed, Failed, Faulted, Postponed or Skipped
	Message string    `json:"message,omitempty"`              // full description of the result
	Summary string    `json:"summary,omitempty"`              // attempt: short description, such as Bad Gateway
	Retry   int       `json:"retryCount"`                     // 0: first try of the action
	Repeat  int       `json:"repeatCount"`                    // number of the occurrence, from 1

	Occurrence string    `json:"occurrence,omitempty"` // occurrence id; the outgoing idempotency key
	Attempt    string    `json:"attemptId,omitempty"`
	Due        time.Time `json:"dueTime,omitzero"`          // nominal plus jitter, or the time of a retry
	Lateness   *Seconds  `json:"lateness,omitempty"`        // from dueTime to startTime; attempts only
	Late       bool      `json:"late,omitempty"`            // the occurrence began later than the job's lateAfter allows
	Duration   *Seconds  `json:"duration,omitempty"`        // from startTime to the end; attempts only
	ActionType string    `json:"actionType,omitempty"`      // as in the job: Http, StorageQueue, …
	ActionPath string    `json:"actionPath,omitempty"`      // one of several errorActions: its path, action.errorAction[1]
	Target     string    `json:"target,omitempty"`          // host and port that the action loads
	StatusCode int       `json:"statusCode,omitempty"`      // status code of the target, or the nearest HTTP equivalent
	Final      bool      `json:"final,omitempty"`           // failed, and a retry could not help
	RetryAfter Seconds   `json:"retryAfter,omitzero"`       // delay that the target requested
	Headers    string    `json:"responseHeaders,omitempty"` // headers of the response, one per line
	Response   string    `json:"response,omitempty"`        // excerpt of the response
	Manual     bool      `json:"manual,omitempty"`          // manual run
	Resubmits  string    `json:"resubmits,omitempty"`       // manual run: the occurrence that it repeats

	Reason    Reason    `json:"reason,omitempty"`     // why times were skipped
	From      time.Time `json:"from,omitzero"`        // first skipped or postponed time
	To        time.Time `json:"to,omitzero"`          // last skipped or postponed time
	Count     int       `json:"count,omitempty"`      // number of skipped or postponed times
	FaultedAt time.Time `json:"faultedTime,omitzero"` // faulted: when the occurrence faulted, its errorAction included
	UID       string    `json:"uid,omitempty"`        // distinguishes the job from an earlier job of the same name
	Trace     string    `json:"traceId,omitempty"`    // of the occurrence, even if it was not sampled; "": none

	Data  json.RawMessage `json:"data,omitempty"`  // manual run: the JSON object that it passes to templates
	Cause *Cause          `json:"cause,omitempty"` // the events that started the run
}

// Form returns the record as users see it.
func (r *Record) Form() RecordForm {
	f := RecordForm{
		Started: r.Started.UTC(), Ended: r.Ended.UTC(), Nominal: r.Nominal.UTC(), Due: r.Due.UTC(),
		From: r.From.UTC(), To: r.To.UTC(), FaultedAt: r.FaultedAt.UTC(),
		Action: r.Phase.ActionName(), Status: r.Outcome.title(), Message: r.Message, Summary: r.Summary,
		Retry: r.Attempt, Repeat: r.Progress.Number,
		Occurrence: r.Occurrence, Attempt: r.ID, ActionType: r.Type, ActionPath: r.Path, Target: r.Target,
		StatusCode: r.Status, Late: r.Late, Final: r.Final,
		RetryAfter: Seconds(r.RetryAfter), Headers: r.Headers, Response: r.Response,
		Manual: r.Kind.IsManual(), Reason: r.Reason, Count: r.Count, UID: r.UID,
		Trace: r.Trace.ID(), Data: r.Data, Cause: r.Cause,
	}
	if r.Resubmits != nil {
		f.Resubmits = r.Resubmits.of(r.Occurrence)
	}
	spans := &[2]Seconds{Seconds(r.Lateness()), Seconds(r.Duration)}
	attempted := !r.Started.IsZero()
	if attempted {
		f.Lateness = &spans[0]
	}
	if attempted || r.Duration != 0 {
		f.Duration = &spans[1]
	}
	return f
}

// code lists the fields that users see.
func (f *RecordForm) code(c *plainjson.Codec) {
	c.OptTime("startTime", &f.Started)
	c.OptTime("endTime", &f.Ended)
	c.OptTime("expectedExecutionTime", &f.Nominal)
	c.OptWord("actionName", &f.Action, mainActionName, errorActionName)
	c.OptWord("status", &f.Status, outcomeTitles...)
	c.OptText("message", &f.Message)
	c.OptText("summary", &f.Summary)
	c.Int("retryCount", &f.Retry)
	c.Int("repeatCount", &f.Repeat)
	c.OptText("occurrence", &f.Occurrence)
	c.OptText("attemptId", &f.Attempt)
	c.OptTime("dueTime", &f.Due)
	codeSeconds(c, "lateness", &f.Lateness)
	c.OptTrue("late", &f.Late)
	codeSeconds(c, "duration", &f.Duration)
	c.OptText("actionType", &f.ActionType)
	c.OptText("actionPath", &f.ActionPath)
	c.OptText("target", &f.Target)
	c.OptInt("statusCode", &f.StatusCode)
	c.OptTrue("final", &f.Final)
	if retry := &f.RetryAfter; c.Reads() || *retry != 0 {
		codeSeconds(c, "retryAfter", &retry)
	}
	c.OptText("responseHeaders", &f.Headers)
	c.OptText("response", &f.Response)
	c.OptTrue("manual", &f.Manual)
	c.OptText("resubmits", &f.Resubmits)
	c.OptWord("reason", (*string)(&f.Reason), reasonWords...)
	c.OptTime("from", &f.From)
	c.OptTime("to", &f.To)
	c.OptInt("count", &f.Count)
	c.OptTime("faultedTime", &f.FaultedAt)
	c.OptText("uid", &f.UID)
	c.OptText("traceId", &f.Trace)
	c.OptRaw("data", (*[]byte)(&f.Data))
	plainjson.Rare(c, "cause", &f.Cause, f.Cause != nil)
}

// codeSeconds codes an optional duration.
func codeSeconds(c *plainjson.Codec, name string, s **Seconds) {
	if !c.Reads() {
		if *s != nil {
			var text [secondsLength]byte
			c.Number(name, (*s).append(text[:0]))
		}
	} else if text := c.ReadNumber(name); text != nil && made(s).UnmarshalJSON(text) != nil {
		c.Refuse()
	}
}

// Short returns the summary, or else the message.
func (f *RecordForm) Short() string { return cmp.Or(f.Summary, f.Message) }

// record is the inverse of [Record.Form], without the fields that users do not see.
func (f *RecordForm) record() *Record {
	r := &Record{
		ID: f.Attempt, Occurrence: f.Occurrence, Outcome: outcomeTitled(f.Status), Nominal: f.Nominal, Due: f.Due, Started: f.Started,
		Ended: f.Ended, Attempt: f.Retry, Phase: phaseNamed(f.Action), Status: f.StatusCode,
		Message: f.Message, Summary: f.Summary, Headers: f.Headers, Response: f.Response,
		Final: f.Final, RetryAfter: time.Duration(f.RetryAfter), Type: f.ActionType, Path: f.ActionPath, Target: f.Target,
		FaultedAt: f.FaultedAt, Late: f.Late,
		Reason: f.Reason, From: f.From, To: f.To, Count: f.Count, UID: f.UID, Data: f.Data, Cause: f.Cause,
	}
	if f.Duration != nil {
		r.Duration = time.Duration(*f.Duration)
	}
	return r
}

// outcomeTitles are the titles of the outcomes.
var outcomeTitles = func() (titles []string) {
	for _, o := range Outcomes {
		titles = append(titles, o.capitalized())
	}
	return titles
}()

// title returns the outcome as users see it: Completed.
func (o Outcome) title() string {
	if i := slices.Index(Outcomes, o); i >= 0 {
		return outcomeTitles[i]
	}
	return o.capitalized()
}

func (o Outcome) capitalized() string {
	if o != "" && 'a' <= o[0] && o[0] <= 'z' {
		return string(o[0]-'a'+'A') + string(o[1:])
	}
	return string(o)
}

// outcomeTitled is the inverse of title, also for unknown outcomes.
func outcomeTitled(title string) Outcome {
	if i := slices.Index(outcomeTitles, title); i >= 0 {
		return Outcomes[i]
	}
	if title != "" && 'A' <= title[0] && title[0] <= 'Z' {
		return Outcome(title[0]-'A'+'a') + Outcome(title[1:])
	}
	return Outcome(title)
}

// The names of the phases' actions.
const (
	mainActionName  = "MainAction"
	errorActionName = "ErrorAction"
)

// ActionNames are the action names in records.
var ActionNames = []string{mainActionName, errorActionName}

// PhaseOf returns the phase of an action name, in any letter case.
func PhaseOf(name string) (Phase, bool) {
	for _, known := range ActionNames {
		if strings.EqualFold(name, known) {
			return phaseNamed(known), true
		}
	}
	return "", false
}

// ActionName returns the name of the phase's action.
func (p Phase) ActionName() string {
	if p == ErrorPhase {
		return errorActionName
	}
	return mainActionName
}

func phaseNamed(action string) Phase {
	if action == errorActionName {
		return ErrorPhase
	}
	return MainPhase
}

// Seconds is a duration in APIs and in the store: a JSON number of seconds, exact to the nanosecond.
type Seconds time.Duration //nolint:recvcheck // UnmarshalJSON changes its receiver

// nanoDigits is the number of decimals of a nanosecond.
const nanoDigits = 9

// MarshalJSON returns the decimal number: 0.0625037.
func (s Seconds) MarshalJSON() ([]byte, error) { return s.append(make([]byte, 0, secondsLength)), nil }

// secondsLength is the length of the longest number.
const secondsLength = len("-9223372036.854775808")

// append appends the number to text.
func (s Seconds) append(text []byte) []byte {
	n := uint64(s)
	if s < 0 {
		text, n = append(text, '-'), -n
	}
	text = strconv.AppendUint(text, n/uint64(time.Second), 10)
	rest := n % uint64(time.Second)
	if rest == 0 {
		return text
	}
	text = append(text, '.')
	for unit := uint64(time.Second) / 10; rest > 0; unit /= 10 {
		text = append(text, '0'+byte(rest/unit))
		rest %= unit
	}
	return text
}

// UnmarshalJSON parses the number, exact to the nanosecond. Numbers with an exponent may lose precision.
func (s *Seconds) UnmarshalJSON(data []byte) error {
	text, negative := strings.CutPrefix(string(data), "-")
	whole, fraction, _ := strings.Cut(text, ".")
	if len(fraction) < nanoDigits {
		fraction += strings.Repeat("0", nanoDigits-len(fraction))
	}
	n, err := strconv.ParseUint(whole+fraction[:nanoDigits], 10, 64)
	if err != nil || strings.ContainsAny(text, "eE") {
		return s.unmarshalFloat(data)
	}
	if n > math.MaxInt64 && (!negative || n > 1<<63) {
		return fmt.Errorf("%s seconds are too many", data)
	}
	if negative {
		n = -n
	}
	*s = Seconds(n)
	return nil
}

func (s *Seconds) unmarshalFloat(data []byte) error {
	f, err := strconv.ParseFloat(string(data), 64)
	nanos := math.Round(f * float64(time.Second))
	if err != nil || math.Abs(nanos) >= 1<<63 {
		return fmt.Errorf("%s is not a number of seconds", data)
	}
	*s = Seconds(nanos)
	return nil
}
