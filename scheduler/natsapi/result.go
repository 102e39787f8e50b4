package natsapi

import (
	"strings"
	"time"
	"unicode"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// result is the result of a spec.
type result struct {
	item     *item
	decision decision
	err      error  // the cause of a rejection
	first    *event // event of the spec with the same ID; nil: none
}

// The verdicts, which are also tokens of the result's subject.
const (
	accepted = "accepted"
	rejected = "rejected"
)

func (r *result) verdict() string {
	switch {
	case r.err != nil:
		return rejected
	case r.first != nil:
		return r.first.Verdict
	}
	return accepted
}

// delicate reports whether the spec may contain secrets: an accepted one contained those of its job; a rejected one may
// contain any.
func (r *result) delicate() bool {
	switch {
	case r.item.size == 0:
		return false
	case r.err != nil, r.decision.view == nil, !r.item.takesBody(), r.decision.view.Superseded:
		return true
	}
	return r.decision.view.Job.Def.HasSecrets()
}

// event is the published result.
type event struct {
	Verdict      string         `json:"verdict"`
	Verb         string         `json:"verb"`
	Job          string         `json:"job"`
	Claim        string         `json:"claim,omitempty"`      // the unverified name of its publisher
	Result       v1.Result      `json:"result,omitempty"`     // of put and patch: created, updated or unchanged
	Created      *bool          `json:"created,omitempty"`    // of put
	Occurrence   string         `json:"occurrence,omitempty"` // of run and resubmit: the ID of the new run
	Resubmits    string         `json:"resubmits,omitempty"`  // of resubmit: the ID of the repeated occurrence
	Superseded   bool           `json:"superseded,omitempty"`
	State        string         `json:"state,omitempty"`
	Revision     uint64         `json:"revision,omitempty"`
	ETag         string         `json:"etag,omitempty"`
	Next         time.Time      `json:"nextExecutionTime,omitzero"`
	Message      string         `json:"message,omitempty"` // summary of an ended job
	Error        *v1.Error      `json:"error,omitempty"`
	Warnings     []spec.Warning `json:"warnings,omitempty"`    // of put and patch: effects that the publisher might not expect
	DryRun       *v1.DryRun     `json:"dryRun,omitempty"`      // effect of a dry run of put or patch
	DuplicateOf  uint64         `json:"duplicateOf,omitempty"` // the spec that had the same ID, and this result
	SpecSequence uint64         `json:"specSequence"`
	Time         time.Time      `json:"time"`
}

// event returns the published form of the result.
func (r *result) event(now time.Time) *event {
	e := &event{
		Verdict: r.verdict(), Verb: clip(r.item.Verb), Job: clip(r.item.key().String()), Claim: r.item.claim,
		SpecSequence: r.item.Sequence, Time: now.UTC(),
	}
	if r.err != nil {
		described := v1.DescribeError(r.err)
		e.Error = &described
		return e
	}
	if r.first != nil {
		first := *r.first
		first.DuplicateOf, first.SpecSequence, first.Claim, first.Time = first.SpecSequence, e.SpecSequence, e.Claim, e.Time
		return &first
	}
	d := &r.decision
	if r.item.Verb == "put" {
		e.Created = &d.created
	}
	e.Occurrence, e.Resubmits = d.occurrence, d.resubmits
	if v := d.view; v != nil {
		e.Result, e.Warnings, e.Message = v.Result, v.Warnings, v.Status.Message
		e.Superseded, e.State, e.Revision = v.Superseded, string(v.Job.State), v.Job.Revision
		if v.Job.State != scheduler.Disabled { // for a disabled job, Next is the time of a retry only
			e.Next = v.Status.Next.UTC()
		}
		e.ETag, e.DryRun = v.ETag(), v.DryRun
	}
	return e
}

// longestName limits the part of a foreign subject that a result repeats; a valid <collection>.<job> has at most 201
// bytes.
const longestName = 256

// clip shortens an unchecked foreign text.
func clip(s string) string {
	if len(s) <= longestName {
		return s
	}
	return strings.ToValidUTF8(s[:longestName], "") + "…"
}

// resultName converts the rest of a spec's subject to a valid part of another. A spec whose subject is too long or has
// a wildcard is rejected, and its subject must not prevent the storage of its rejection.
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

// subjectRune replaces characters that are invalid in a token of a subject.
func subjectRune(r rune) rune {
	if unicode.IsSpace(r) || unicode.IsControl(r) || r == '*' || r == '>' || r == unicode.ReplacementChar {
		return '_'
	}
	return r
}
