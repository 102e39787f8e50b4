package v1

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

// HistoryFilter parses the $filter of a history: one or more comparisons of a record's fields, joined by "and":
//
//	status eq failed             failed, completed, faulted, postponed or skipped; "outcome" is a synonym of "status"
//	(status eq a or status eq b) several values; a single comparison needs no parentheses
//	actionType eq Http           the type of the action, as in the job
//	actionName eq ErrorAction    MainAction or ErrorAction
//	target eq example.com:443    the host and port of the action; without a port, all ports of the host
//	job eq report                part of a job's name, or of collection/job
//	manual eq true               manual runs; with false, scheduled runs
//	startTime ge 2026-03-08      ge, gt, le or lt, and a time in a form of [document.ParseTime],
//	endTime lt 2h                or a duration before now, in a form of [document.ParseDuration] with units
//
// Letter case has no effect, and values may be in single quotes. All fields except manual and the times accept several
// values, as status does. For a record without an attempt, startTime is the time of the decision. An empty filter
// selects all records. HistoryFilter returns [scheduler.ErrInvalid] for any other filter.
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

// filterReader parses the comparisons of a filter.
type filterReader struct {
	filter *scheduler.RecordFilter
	now    time.Time
}

// choice is a field that supports eq.
type choice struct {
	names []string
	form  string // of a value, for error messages
	few   bool   // accepts a single value

	// take stores a value and reports whether the field has this value. given reports whether f has a value of the
	// field.
	take  func(f *scheduler.RecordFilter, value string) bool
	given func(f *scheduler.RecordFilter) bool
}

// choices are the fields that support eq.
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
		names: []string{"job"}, form: "PART",
		take:  func(f *scheduler.RecordFilter, value string) bool { return value != "" && add(&f.Jobs, value) },
		given: func(f *scheduler.RecordFilter) bool { return len(f.Jobs) > 0 },
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

// add appends a value if it is missing.
func add[T comparable](values *[]T, value T) bool {
	if !slices.Contains(*values, value) {
		*values = append(*values, value)
	}
	return true
}

// term parses one part of a filter. bare: the part has no parentheses, and the filter has other parts.
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
		return errors.New("is mixed with \"and\": enclose the terms that \"or\" joins in parentheses")
	}
	if len(term) == 0 || choiceOf(term[0]) == nil {
		return errUnknownTerm
	}
	c := choiceOf(term[0])
	if c.given(r.filter) {
		return fmt.Errorf("repeats the term for %s: join alternatives with or", c.names[0])
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

// several describes how to pass several values of the field.
func (c *choice) several() string {
	if c.few {
		return ""
	}
	return "; several may be joined by or"
}

// choiceOf returns the field of a name, or nil.
func choiceOf(name string) *choice {
	i := slices.IndexFunc(choices, func(c choice) bool {
		return slices.ContainsFunc(c.names, func(n string) bool { return strings.EqualFold(n, name) })
	})
	if i < 0 {
		return nil
	}
	return &choices[i]
}

// The forms of a comparison.
var (
	choiceForm = func() string {
		var names []string
		for _, c := range choices {
			names = append(names, c.names[0])
		}
		return alternatives(names) + " eq VALUE"
	}()
	boundForm = "startTime|endTime ge|gt|le|lt TIME"
)

// HistoryFilterForm describes the filters that [HistoryFilter] parses.
var HistoryFilterForm = choiceForm + ", " + boundForm + ", joined by and, alternatives by or"

// errUnknownTerm lists the supported comparisons.
var errUnknownTerm = errors.New("is not of the form: " + choiceForm + "; several may be joined by or; nor of the form: " + boundForm)

// bound parses the comparison of a time.
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

// moment parses a time, or a duration before now. A number without a unit is a time: 2026 is a year, not seconds.
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

// longestAgo keeps a duration from reaching back beyond the first date.
const longestAgo = 290 * 365 * 24 * time.Hour

// filterWords splits a filter into words. Parentheses are separate words; single quotes are removed.
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

// splitWords splits words at a conjunction.
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

// HistoryFilterText returns the text of a filter that [HistoryFilter] parses. The text omits the incarnation and
// whether earlier ones are included, because a $filter cannot express them.
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
	oneOf("job", f.Jobs)
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

// HistoryToken returns the $skiptoken for the records before a sequence, "" for 0: no records follow.
func HistoryToken(before uint64) string {
	if before == 0 {
		return ""
	}
	return strconv.FormatUint(before, 10)
}

// ReadHistoryToken is the inverse of [HistoryToken].
func ReadHistoryToken(text string) (before uint64, err error) {
	return ReadSequence("$skiptoken", text)
}

// ReadSequence parses the sequence of a record; an empty text is 0. name is the parameter's name in errors.
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
