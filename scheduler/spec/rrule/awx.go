package rrule

import (
	"strings"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
)

// AWXErrors are the reasons why AWX does not take a recurrence, in AWX's own words and order. [AWXErrors.Messages] is
// what its API answers under "rrule".
type AWXErrors []*language.SyntaxError

// Answers of AWX's API about a field that has no text.
const (
	awxBlank    = "This field may not be blank."
	awxRequired = "This field is required."
)

// AWXRequired is the error for a request without an rrule.
func AWXRequired() AWXErrors { return AWXErrors{{Message: awxRequired}} }

// Messages returns the reasons as AWX prints them.
func (e AWXErrors) Messages() []string {
	messages := make([]string, len(e))
	for i, problem := range e {
		messages[i] = problem.Message
	}
	return messages
}

// Error returns all reasons, one on each line.
func (e AWXErrors) Error() string { return strings.Join(e.Messages(), "\n") }

// Unwrap returns the reasons one by one.
func (e AWXErrors) Unwrap() []error {
	list := make([]error, len(e))
	for i, problem := range e {
		list[i] = problem
	}
	return list
}

// parseAWX reads a recurrence under AWX's limitations. Three judges look at it, and the first who finds something is
// the one who is heard: AWX's checks, then what its document forbids but its checks let through, then RFC 5545.
func parseAWX(text string) (*Set, error) {
	if len(text) > maxRRuleText {
		return nil, AWXErrors(parseRRule(text, language.AWX).problems)
	}
	if strings.TrimSpace(text) == "" {
		return nil, AWXErrors{{Column: 1, Message: awxBlank}}
	}
	check := awxCheck{text: text, columns: columnsOf(text)}
	check.limits()
	if len(check.errors) == 0 {
		check.document()
	}
	if len(check.errors) > 0 {
		return nil, check.errors[:min(len(check.errors), maxRRuleErrors)]
	}
	p := parseRRule(text, language.AWX)
	if len(p.problems) == 0 {
		return &p.set, nil
	}
	for _, problem := range language.InOrder(p.problems, maxRRuleErrors) {
		words := *problem
		if words.Field != "" {
			words.Message = words.Field + " " + words.Message
		}
		words.Field, words.Message = "", awxFailed+words.Message
		check.errors = append(check.errors, &words)
	}
	return nil, check.errors
}
