package view

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// HistoryFilter reads the $filter of a history into the outcomes and the bounds
// of a filter. It is one comparison, or several joined by "and":
//
//	status eq failed             failed, completed, faulted, postponed, skipped; "outcome" may stand for "status"
//	(status eq a or status eq b) several of them; without parentheses when nothing else is asked
//	startTime ge 2026-03-08      ge, gt, le or lt, and a time in a form of [document.ParseTime]
//
// in any letter case; a word may stand in single quotes. The time of a record
// that is of no attempt is that of the decision. Empty means all.
// [scheduler.ErrInvalid] for anything else.
func HistoryFilter(filter string) (f scheduler.RecordFilter, err error) {
	words := filterWords(filter)
	if len(words) == 0 {
		return f, nil
	}
	terms := slices.Collect(splitWords(words, "and"))
	for _, term := range terms {
		bare := len(terms) > 1
		if n := len(term); n > 2 && term[0] == "(" && term[n-1] == ")" {
			term, bare = term[1:n-1], false
		}
		if err := readTerm(&f, term, bare); err != nil {
			return f, scheduler.Invalid("$filter", fmt.Sprintf("%q %v", strings.Join(term, " "), err))
		}
	}
	if !f.Until.IsZero() && f.Until.Before(f.Since) {
		return f, scheduler.Invalid("$filter", "the last startTime is before the first")
	}
	return f, nil
}

// readTerm reads one of the parts that are joined by "and". bare says that it
// stands beside others without parentheses.
func readTerm(f *scheduler.RecordFilter, term []string, bare bool) error {
	choices := slices.Collect(splitWords(term, "or"))
	if len(choices) == 1 && len(term) == 3 && strings.EqualFold(term[0], "startTime") {
		return readBound(f, strings.ToLower(term[1]), term[2])
	}
	if len(choices) > 1 && bare {
		return errors.New("stands beside others: put what is joined by or in parentheses")
	}
	var outcomes []scheduler.Outcome
	for _, words := range choices {
		o, ok := outcomeOf(words)
		if !ok {
			return fmt.Errorf("is not of the form: status eq %s; several may be joined by or; nor of the form: startTime ge|gt|le|lt TIME",
				alternatives(scheduler.Outcomes))
		}
		if !slices.Contains(outcomes, o) {
			outcomes = append(outcomes, o)
		}
	}
	if len(f.Outcomes) > 0 {
		return errors.New("asks for a status besides another: several may be joined by or")
	}
	f.Outcomes = outcomes
	return nil
}

// outcomeOf reads "status eq failed".
func outcomeOf(words []string) (scheduler.Outcome, bool) {
	if len(words) != 3 || !strings.EqualFold(words[1], "eq") ||
		!strings.EqualFold(words[0], "status") && !strings.EqualFold(words[0], "outcome") {
		return "", false
	}
	o := scheduler.Outcome(strings.ToLower(words[2]))
	return o, slices.Contains(scheduler.Outcomes, o)
}

// readBound reads what a time is compared with.
func readBound(f *scheduler.RecordFilter, operator, text string) error {
	t, err := document.ParseTime(text)
	if err != nil {
		return fmt.Errorf("does not compare with a time: %w", err)
	}
	switch operator {
	case "gt":
		t = t.Add(1)
		fallthrough
	case "ge":
		if t.After(f.Since) {
			f.Since = t
		}
	case "lt":
		t = t.Add(-1)
		fallthrough
	case "le":
		if f.Until.IsZero() || t.Before(f.Until) {
			f.Until = t
		}
	default:
		return errors.New("does not compare by ge, gt, le or lt")
	}
	return nil
}

// filterWords are the words of a filter; parentheses are words of their own, and
// single quotes are taken away.
func filterWords(filter string) []string {
	spaced := strings.NewReplacer("(", " ( ", ")", " ) ").Replace(filter)
	words := strings.Fields(spaced)
	for i, w := range words {
		if n := len(w); n > 1 && w[0] == '\'' && w[n-1] == '\'' {
			words[i] = w[1 : n-1]
		}
	}
	return words
}

// splitWords cuts words at a conjunction.
func splitWords(words []string, at string) func(yield func([]string) bool) {
	return func(yield func([]string) bool) {
		for {
			i := slices.IndexFunc(words, func(w string) bool { return strings.EqualFold(w, at) })
			if i < 0 {
				yield(words)
				return
			}
			if !yield(words[:i]) {
				return
			}
			words = words[i+1:]
		}
	}
}

// HistoryFilterText is a filter as [HistoryFilter] reads it.
func HistoryFilterText(outcomes []scheduler.Outcome, since, until time.Time) string {
	var terms []string
	if len(outcomes) > 0 {
		choices := make([]string, len(outcomes))
		for i, o := range outcomes {
			choices[i] = "status eq " + string(o)
		}
		terms = append(terms, "("+strings.Join(choices, " or ")+")")
	}
	if !since.IsZero() {
		terms = append(terms, "startTime ge "+since.UTC().Format(time.RFC3339Nano))
	}
	if !until.IsZero() {
		terms = append(terms, "startTime le "+until.UTC().Format(time.RFC3339Nano))
	}
	return strings.Join(terms, " and ")
}

// HistoryToken is the $skiptoken that goes on with the records before a
// sequence; "" for 0, where nothing follows.
func HistoryToken(before uint64) string {
	if before == 0 {
		return ""
	}
	return strconv.FormatUint(before, 10)
}

// ReadHistoryToken is the reverse of [HistoryToken].
func ReadHistoryToken(text string) (before uint64, err error) {
	return ReadSequence("$skiptoken", text)
}

// ReadSequence reads the sequence of a record, 0 when text is empty. name is
// what it is called in the error.
func ReadSequence(name, text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n == math.MaxUint64 {
		return 0, scheduler.Invalid(name, fmt.Sprintf("%q is not the sequence of a record", text))
	}
	return n, nil
}
