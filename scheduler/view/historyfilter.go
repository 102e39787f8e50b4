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

// HistoryFilter reads the $filter of a history. It is one comparison of a member
// of the records, or several joined by "and":
//
//	status eq failed             failed, completed, faulted, postponed, skipped; "outcome" may stand for "status"
//	(status eq a or status eq b) several of them; without parentheses when nothing else is asked
//	actionType eq Http           the type of the action, as in the job
//	actionName eq ErrorAction    MainAction or ErrorAction
//	target eq example.com:443    what the action loads: a host with its port, or without for all of its ports
//	manual eq true               run by hand, or with false by the schedule
//	startTime ge 2026-03-08      ge, gt, le or lt, and a time in a form of [document.ParseTime],
//	endTime lt 2h                or how long before now that was, in a form of [document.ParseDuration] with units
//
// in any letter case; a word may stand in single quotes. All but manual and the
// times may have several values like status has. The startTime of a record that
// is of no attempt is that of the decision. Empty means all.
// [scheduler.ErrInvalid] for anything else.
func HistoryFilter(filter string, now time.Time) (f scheduler.RecordFilter, err error) {
	words := filterWords(filter)
	if len(words) == 0 {
		return f, nil
	}
	terms := slices.Collect(splitWords(words, "and"))
	r := filterReader{filter: &f, now: now}
	for _, term := range terms {
		bare := len(terms) > 1
		if n := len(term); n > 2 && term[0] == "(" && term[n-1] == ")" {
			term, bare = term[1:n-1], false
		}
		if err := r.term(term, bare); err != nil {
			return f, scheduler.Invalid("$filter", fmt.Sprintf("%q %v", strings.Join(term, " "), err))
		}
	}
	for _, span := range []struct {
		member       string
		since, until time.Time
	}{{"startTime", f.Since, f.Until}, {"endTime", f.EndedSince, f.EndedUntil}} {
		if !span.until.IsZero() && span.until.Before(span.since) {
			return f, scheduler.Invalid("$filter", "the last "+span.member+" is before the first")
		}
	}
	return f, nil
}

// filterReader reads the parts of a filter that are joined by "and".
type filterReader struct {
	filter *scheduler.RecordFilter
	now    time.Time
}

// choice is a member that is compared by eq, with one value or several.
type choice struct {
	names []string
	form  string // of a value, for people
	few   bool   // only one value

	// take takes a value, unless it is none of the member's. given tells whether there are some.
	take  func(f *scheduler.RecordFilter, value string) bool
	given func(f *scheduler.RecordFilter) bool
}

// choices are the members that are compared by eq.
var choices = []choice{
	{
		names: []string{"status", "outcome"}, form: alternatives(scheduler.Outcomes),
		take: func(f *scheduler.RecordFilter, value string) bool {
			o := scheduler.Outcome(strings.ToLower(value))
			return slices.Contains(scheduler.Outcomes, o) && add(&f.Outcomes, o)
		},
		given: func(f *scheduler.RecordFilter) bool { return len(f.Outcomes) > 0 },
	},
	{
		names: []string{"actionType"}, form: "Http",
		take:  func(f *scheduler.RecordFilter, value string) bool { return add(&f.ActionTypes, value) },
		given: func(f *scheduler.RecordFilter) bool { return len(f.ActionTypes) > 0 },
	},
	{
		names: []string{"actionName"}, form: alternatives(scheduler.ActionNames),
		take: func(f *scheduler.RecordFilter, value string) bool {
			p, ok := scheduler.PhaseOf(value)
			return ok && add(&f.Phases, p)
		},
		given: func(f *scheduler.RecordFilter) bool { return len(f.Phases) > 0 },
	},
	{
		names: []string{"target"}, form: "HOST[:PORT]",
		take:  func(f *scheduler.RecordFilter, value string) bool { return add(&f.Targets, value) },
		given: func(f *scheduler.RecordFilter) bool { return len(f.Targets) > 0 },
	},
	{
		names: []string{"manual"}, form: "true|false", few: true,
		take: func(f *scheduler.RecordFilter, value string) bool {
			manual := strings.EqualFold(value, "true")
			f.Manual = &manual
			return manual || strings.EqualFold(value, "false")
		},
		given: func(f *scheduler.RecordFilter) bool { return f.Manual != nil },
	},
	{
		names: []string{"late"}, form: "true", few: true,
		take: func(f *scheduler.RecordFilter, value string) bool {
			f.Late = strings.EqualFold(value, "true")
			return f.Late
		},
		given: func(f *scheduler.RecordFilter) bool { return f.Late },
	},
}

// add adds a value that is not there yet.
func add[T comparable](values *[]T, value T) bool {
	if !slices.Contains(*values, value) {
		*values = append(*values, value)
	}
	return true
}

// term reads one of the parts. bare says that it stands beside others without
// parentheses.
func (r filterReader) term(term []string, bare bool) error {
	alternatives := slices.Collect(splitWords(term, "or"))
	if len(alternatives) == 1 && len(term) == 3 {
		switch f := r.filter; {
		case strings.EqualFold(term[0], "startTime"):
			return r.bound(&f.Since, &f.Until, term)
		case strings.EqualFold(term[0], "endTime"):
			return r.bound(&f.EndedSince, &f.EndedUntil, term)
		}
	}
	if len(alternatives) > 1 && bare {
		return errors.New("stands beside others: put what is joined by or in parentheses")
	}
	if len(term) == 0 || choiceOf(term[0]) == nil {
		return errUnknownTerm
	}
	c := choiceOf(term[0])
	if c.given(r.filter) {
		return fmt.Errorf("asks for a %s besides another: several may be joined by or", c.names[0])
	}
	for _, words := range alternatives {
		if len(words) != 3 || choiceOf(words[0]) != c || !strings.EqualFold(words[1], "eq") || !c.take(r.filter, words[2]) {
			return fmt.Errorf("is not of the form: %s eq %s%s", c.names[0], c.form, c.several())
		}
	}
	if c.few && len(alternatives) > 1 {
		return fmt.Errorf("asks for both: leave %s out", c.names[0])
	}
	return nil
}

// several says of a member that it may have several values.
func (c *choice) several() string {
	if c.few {
		return ""
	}
	return "; several may be joined by or"
}

// choiceOf returns the member of a name; nil when there is none.
func choiceOf(name string) *choice {
	i := slices.IndexFunc(choices, func(c choice) bool {
		return slices.ContainsFunc(c.names, func(n string) bool { return strings.EqualFold(n, name) })
	})
	if i < 0 {
		return nil
	}
	return &choices[i]
}

// errUnknownTerm says what may be asked.
var errUnknownTerm = errors.New("is not of the form: status|actionType|actionName|target|manual|late eq VALUE; " +
	"several may be joined by or; nor of the form: startTime|endTime ge|gt|le|lt TIME")

// bound reads what a time is compared with.
func (r filterReader) bound(since, until *time.Time, term []string) error {
	t, err := moment(term[2], r.now)
	if err != nil {
		return fmt.Errorf("does not compare with a time: %w", err)
	}
	switch strings.ToLower(term[1]) {
	case "gt":
		t = t.Add(1)
		fallthrough
	case "ge":
		if t.After(*since) {
			*since = t
		}
	case "lt":
		t = t.Add(-1)
		fallthrough
	case "le":
		if until.IsZero() || t.Before(*until) {
			*until = t
		}
	default:
		return errors.New("does not compare by ge, gt, le or lt")
	}
	return nil
}

// moment reads a time, or how long before now it was. A number without a unit is
// no such length: 2026 would be one of seconds.
func moment(text string, now time.Time) (time.Time, error) {
	if n := len(text); n > 1 && (text[0] == 'P' || text[0] >= '0' && text[0] <= '9' && strings.IndexByte("wdhms", text[n-1]) >= 0) {
		d, err := document.ParseDuration(text)
		if err != nil {
			return time.Time{}, err
		}
		if d.Approx() > longestAgo {
			return time.Time{}, fmt.Errorf("%q ago is before all records", text)
		}
		return now.Add(-d.Approx()), nil
	}
	return document.ParseTime(text)
}

// longestAgo keeps a length of time from reaching back further than there are dates.
const longestAgo = 290 * 365 * 24 * time.Hour

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

// HistoryFilterText is a filter as [HistoryFilter] reads it. What has no place in
// one is left out: the incarnation, and whether earlier ones are asked for.
func HistoryFilterText(f *scheduler.RecordFilter) string {
	var terms []string
	oneOf := func(member string, values []string) {
		choices := make([]string, len(values))
		for i, v := range values {
			choices[i] = member + " eq '" + v + "'"
		}
		if len(values) > 0 {
			terms = append(terms, "("+strings.Join(choices, " or ")+")")
		}
	}
	var names []string
	for _, p := range f.Phases {
		names = append(names, p.ActionName())
	}
	oneOf("status", texts(f.Outcomes))
	oneOf("actionType", f.ActionTypes)
	oneOf("actionName", names)
	oneOf("target", f.Targets)
	if f.Manual != nil {
		terms = append(terms, fmt.Sprintf("manual eq %t", *f.Manual))
	}
	if f.Late {
		terms = append(terms, "late eq true")
	}
	for _, bound := range []struct {
		comparison string
		at         time.Time
	}{{"startTime ge ", f.Since}, {"startTime le ", f.Until}, {"endTime ge ", f.EndedSince}, {"endTime le ", f.EndedUntil}} {
		if !bound.at.IsZero() {
			terms = append(terms, bound.comparison+bound.at.UTC().Format(time.RFC3339Nano))
		}
	}
	return strings.Join(terms, " and ")
}

func texts[T ~string](values []T) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = string(v)
	}
	return all
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
