package natsapi

import (
	"strings"
	"time"
	"unicode"

	"github.com/carillon-sched/carillon/scheduler/spec"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// result is what became of a spec.
type result struct {
	item     *item
	decision decision
	err      error // why it was rejected
}

// The verdicts, which are also tokens of the result's subject.
const (
	accepted = "accepted"
	rejected = "rejected"
)

func (r *result) verdict() string {
	if r.err != nil {
		return rejected
	}
	return accepted
}

// delicate reports whether the spec may hold secrets: one that was accepted
// brought its job's; of another nobody knows.
func (r *result) delicate() bool {
	switch {
	case r.item.size == 0:
		return false
	case r.err != nil, r.decision.view == nil, !r.item.takesBody(), r.decision.view.Superseded:
		return true
	}
	return r.decision.view.Job.Def.HasSecrets()
}

// event is the result as it is published.
type event struct {
	Verdict      string         `json:"verdict"`
	Verb         string         `json:"verb"`
	Job          string         `json:"job"`
	Result       view.Result    `json:"result,omitempty"`     // of put and patch: created, updated or unchanged
	Created      *bool          `json:"created,omitempty"`    // of put
	Occurrence   string         `json:"occurrence,omitempty"` // of run: what it started
	Superseded   bool           `json:"superseded,omitempty"`
	State        string         `json:"state,omitempty"`
	Revision     uint64         `json:"revision,omitempty"`
	Next         time.Time      `json:"nextExecutionTime,omitzero"`
	Message      string         `json:"message,omitempty"` // of a job at its end: what it has come to
	Error        *view.Error    `json:"error,omitempty"`
	Warnings     []spec.Warning `json:"warnings,omitempty"` // of put and patch: what the publisher might not expect
	SpecSequence uint64         `json:"specSequence"`
	Time         time.Time      `json:"time"`
}

// event returns what is told of the result.
func (r *result) event() event {
	e := event{
		Verdict: r.verdict(), Verb: clip(r.item.Verb), Job: clip(r.item.key().String()),
		SpecSequence: r.item.Sequence, Time: time.Now().UTC(),
	}
	if r.err != nil {
		described := view.DescribeError(r.err)
		e.Error = &described
		return e
	}
	d := &r.decision
	if r.item.Verb == "put" {
		e.Created = &d.created
	}
	e.Occurrence = d.occurrence
	if v := d.view; v != nil {
		e.Result, e.Warnings, e.Message = v.Result, v.Warnings, v.Status.Over
		e.Superseded, e.State, e.Revision, e.Next = v.Superseded, string(v.Job.State), v.Job.Revision, v.Status.Next.UTC()
	}
	return e
}

// longestName is the longest part of a foreign subject that is repeated; a
// well-formed <collection>.<job> has at most 201 bytes.
const longestName = 256

// clip shortens a foreign text that nobody has checked.
func clip(s string) string {
	if len(s) <= longestName {
		return s
	}
	return strings.ToValidUTF8(s[:longestName], "") + "…"
}

// resultName makes the rest of a spec's subject fit to be part of another:
// a subject that is too long, or that holds a wildcard, is never accepted,
// and must not keep its rejection from being stored.
func resultName(name string) string {
	if len(name) > longestName {
		name = name[:longestName]
	}
	if name == "" {
		return ""
	}
	tokens := strings.Split(strings.Map(subjectRune, name), ".")
	for i, token := range tokens {
		if token == "" {
			tokens[i] = "_"
		}
	}
	return strings.Join(tokens, ".")
}

// subjectRune replaces what a token of a subject cannot hold.
func subjectRune(r rune) rune {
	if unicode.IsSpace(r) || unicode.IsControl(r) || r == '*' || r == '>' || r == unicode.ReplacementChar {
		return '_'
	}
	return r
}
