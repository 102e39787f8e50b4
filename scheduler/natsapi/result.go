package natsapi

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
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

// document returns the result event.
func (r *result) document() document.Value {
	m := []document.Member{
		text("verdict", r.verdict()), text("verb", clip(r.item.Verb)), text("job", clip(r.item.key().String())),
	}
	if r.err == nil {
		m = append(m, r.decision.members(r.item.Verb)...)
	} else {
		m = append(m, document.Member{Name: "error", Value: scheduler.DescribeError(r.err).Value()})
	}
	m = append(m, count("specSequence", r.item.Sequence), text("time", time.Now().UTC().Format(time.RFC3339Nano)))
	return document.ObjectValue(m...)
}

// members are what an accepted spec's result says of the job.
func (d *decision) members(verb string) []document.Member {
	var m []document.Member
	if verb == "put" {
		m = append(m, document.Member{Name: "created", Value: document.BoolValue(d.created)})
	}
	if d.occurrence != "" {
		m = append(m, text("occurrence", d.occurrence))
	}
	if d.view == nil {
		return m
	}
	if d.view.Superseded {
		m = append(m, document.Member{Name: "superseded", Value: document.BoolValue(true)})
	}
	m = append(m, text("state", string(d.view.Job.State)), count("revision", d.view.Job.Revision))
	if next := d.view.Status.Next; !next.IsZero() {
		m = append(m, text("nextExecutionTime", next.UTC().Format(time.RFC3339Nano)))
	}
	return m
}

func text(name, s string) document.Member {
	return document.Member{Name: name, Value: document.StringValue(s)}
}

func count(name string, n uint64) document.Member {
	return document.Member{Name: name, Value: document.NumberValue(strconv.FormatUint(n, 10))}
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
