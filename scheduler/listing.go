package scheduler

import (
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Listing returns a page of documents as {"value": […], "nextLink": …}. next
// tells how to ask for the page that follows, in the door's own way; "" makes
// nextLink null: there is none.
func Listing(page []document.Value, next string) document.Value {
	link := document.Value{}
	if next != "" {
		link = document.StringValue(next)
	}
	return document.ObjectValue(
		document.Member{Name: "value", Value: document.ArrayValue(page...)},
		document.Member{Name: "nextLink", Value: link},
	)
}

// JobFilter reads the $filter of a list of jobs: "state eq <state>", in any
// letter case. Empty means all. [ErrInvalid] for anything else.
func JobFilter(filter string) (State, error) {
	if strings.TrimSpace(filter) == "" {
		return "", nil
	}
	states := []State{Enabled, Disabled, Completed, Faulted}
	word, ok := comparison(filter, "state")
	for _, s := range states {
		if ok && strings.EqualFold(word, string(s)) {
			return s, nil
		}
	}
	return "", Invalid("$filter", fmt.Sprintf("%q is not of the form: state eq %s", filter, alternatives(states)))
}

// HistoryFilter reads the $filter of a history: "status eq <outcome>", or
// several of these joined by "or", in any letter case; "outcome" may stand for
// "status". Empty means all. [ErrInvalid] for anything else.
func HistoryFilter(filter string) ([]Outcome, error) {
	if strings.TrimSpace(filter) == "" {
		return nil, nil
	}
	var outcomes []Outcome
	for _, part := range splitOr(filter) {
		o, ok := outcomeFilter(part)
		if !ok {
			return nil, Invalid("$filter", fmt.Sprintf(
				"%q is not of the form: status eq %s; several may be joined by or", filter, alternatives(Outcomes),
			))
		}
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

func outcomeFilter(part string) (Outcome, bool) {
	word, ok := comparison(part, "status")
	if !ok {
		word, ok = comparison(part, "outcome")
	}
	for _, o := range Outcomes {
		if ok && strings.EqualFold(word, string(o)) {
			return o, true
		}
	}
	return "", false
}

// splitOr cuts a filter at its ors.
func splitOr(filter string) []string {
	parts := []string{""}
	for word := range strings.FieldsSeq(filter) {
		if strings.EqualFold(word, "or") {
			parts = append(parts, "")
			continue
		}
		parts[len(parts)-1] += word + " "
	}
	return parts
}

// comparison reads "field eq word", where word may be in single quotes.
func comparison(text, field string) (word string, ok bool) {
	f := strings.Fields(text)
	if len(f) != 3 || !strings.EqualFold(f[0], field) || !strings.EqualFold(f[1], "eq") {
		return "", false
	}
	if word, ok = strings.CutPrefix(f[2], "'"); ok {
		return strings.CutSuffix(word, "'")
	}
	return f[2], true
}

func alternatives[T ~string](words []T) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = string(w)
	}
	return strings.Join(texts, "|")
}
