package filter

import (
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

// A Verdict is what became of a question: true, false, or neither.
type Verdict string

// The verdicts.
const (
	Yes     Verdict = "true"
	No      Verdict = "false"
	Unknown Verdict = "unknown" // the result of comparing with a missing property
	Fails   Verdict = "fails"
)

// A Reason is one condition of a filter, such as "price > 10", with its result for a message.
type Reason struct {
	Question string
	Verdict  Verdict
	Why      string // it fails
	Found    []Finding
}

// A Finding is a property that a rule tested. Value is nil when it is not there.
type Finding struct {
	Property string
	Value    any
}

// A leaf is a predicate without others in it, as it was written.
type leaf struct {
	text       string
	node       node
	properties []mention
}

// A mention is a property in the text.
type mention struct {
	at   int
	name string
	node node
}

// Explain returns the result of each condition of the filter for a message, in the order of the text. Only SQL and
// correlation filters have conditions.
func (f Filter) Explain(m *Message) []Reason {
	switch f.kind {
	case SQL:
		reasons := make([]Reason, 0, len(f.leaves))
		for _, l := range f.leaves {
			reasons = append(reasons, l.explain(m))
		}
		return reasons
	case Correlation:
		return f.correlation.explain(m)
	case True, False:
	}
	return nil
}

func (l leaf) explain(m *Message) Reason {
	v := l.node.eval(m)
	reason := Reason{Question: l.text, Verdict: verdictOf(v)}
	if v.kind == failed {
		reason.Why = v.text
	}
	for _, p := range l.properties {
		if user, ok := p.node.(userNode); ok {
			reason.Found = append(reason.Found, Finding{p.name, m.written(user.name)})
		} else if found := p.node.eval(m); found.kind != failed {
			reason.Found = append(reason.Found, Finding{p.name, found.amqp()})
		}
	}
	return reason
}

func verdictOf(v value) Verdict {
	switch {
	case v.kind == failed:
		return Fails
	case v.kind != boolean:
		return Unknown
	case v.number == 1:
		return Yes
	default:
		return No
	}
}

// explain compares the expected with the actual value.
func (c *correlation) explain(m *Message) []Reason {
	var reasons []Reason
	for _, field := range c.system {
		name, want, got := "sys."+field.Name, *field.Of(&c.fields), field.Get(m.Properties())
		finding := Finding{Property: name}
		if got != "" {
			finding.Value = got
		}
		reasons = append(reasons, Reason{
			Question: name + " = " + quoted(want), Verdict: verdictOf(boolOf(want == got)), Found: []Finding{finding},
		})
	}
	for _, expected := range c.properties {
		order, ordered := compare(expected.value, m.user(expected.name))
		reasons = append(reasons, Reason{
			Question: expected.name + " = " + literal(expected.value), Verdict: verdictOf(boolOf(ordered && order == 0)),
			Found: []Finding{{expected.name, m.written(expected.name)}},
		})
	}
	return reasons
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// literal writes a value as the language does.
func literal(v value) string {
	if v.kind == text {
		return quoted(v.text)
	}
	switch v := v.amqp().(type) {
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case []byte:
		return "0x" + hex.EncodeToString(v)
	default:
		return fmt.Sprint(v)
	}
}

// Outcome is the result of a rule for a message.
type Outcome struct {
	Match bool
	Err   error // why evaluation of the filter, or with a match of the action, failed
	Edit  amqp.Edit
}

// Try evaluates a filter and, when it matches, an action, which may be nil.
func Try(f Filter, a *Action, m *Message) (o Outcome) {
	if o.Match, o.Err = f.Match(m); o.Match && a != nil {
		o.Edit, o.Err = a.Apply(m)
	}
	return o
}

// asLeaf notes the predicate that has been parsed since a place in the text.
func (p *parser) asLeaf(n node, from, mentions int) node {
	if p.err == nil {
		text := strings.TrimSpace(p.lexer.input[from:min(p.token.position, len(p.lexer.input))])
		p.leaves = append(p.leaves, leaf{text, n, p.mentions[mentions:len(p.mentions):len(p.mentions)]})
	}
	return n
}

// mention notes a property that the text names.
func (p *parser) mention(at int, n node) node {
	if p.err == nil {
		name := strings.TrimSpace(p.lexer.input[at:min(p.token.position, len(p.lexer.input))])
		p.mentions = append(p.mentions, mention{at, name, n})
	}
	return n
}
