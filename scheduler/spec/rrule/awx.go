package rrule

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/spelling"
)

// AWXErrors are the reasons why AWX does not take a recurrence, in AWX's own words and order. [AWXErrors.Messages] is
// what its API answers under "rrule".
type AWXErrors []*language.SyntaxError

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

// parseAWX parses a recurrence within AWX's limitations. It reports the errors of the first of three checks that fails:
// AWX's own checks, then restrictions that AWX documents but does not check, then RFC 5545.
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

// AWX's messages.
const (
	awxBlank      = "This field may not be blank."
	awxNoStart    = "Valid DTSTART required in rrule. Value should start with: DTSTART:YYYYMMDDTHHMMSSZ"
	awxNaiveStart = "DTSTART cannot be a naive datetime.  Specify ;TZINFO= or YYYYMMDDTHHMMSSZZ."
	awxStarts     = "Multiple DTSTART is not supported."
	awxNoRule     = "One or more rule required in rrule."
	awxNoEXDATE   = "EXDATE not allowed in rrule."
	awxNoRDATE    = "RDATE not allowed in rrule."
	awxNoInterval = "INTERVAL required in rrule"
	awxSecondly   = "SECONDLY is not supported"
	awxNumbered   = "BYDAY with numeric prefix not supported"
	awxBothEnds   = "RRULE may not contain both COUNT and UNTIL"
	awxCount      = "COUNT > 999 is unsupported"
	awxFailed     = "rrule parsing failed validation: "
)

const awxMaxCount = 999

// AWX's patterns. AWX applies them to the text before it parses anything, and is case-sensitive.
var (
	awxStartAt   = regexp.MustCompile(`DTSTART(?:;[^:]+)?:\d+T\d+Z?`)
	awxNaiveAt   = regexp.MustCompile(`DTSTART:\d+T\d+ `)
	awxRuleAt    = regexp.MustCompile(`RULE:\S*`)
	awxNumberAt  = regexp.MustCompile(`BYDAY[:=]\d+[a-zA-Z]{2}`)
	awxCountAt   = regexp.MustCompile(`COUNT=(\d+)`)
	awxAnyRule   = regexp.MustCompile(`(?i)RULE:\S*`)
	awxAnyNumber = regexp.MustCompile(`(?i)BYDAY=(?:[^;]*,)?[+-]?\d+[A-Z]{2}`)
	awxAnyCount  = regexp.MustCompile(`(?i)COUNT=(\d+)`)
	awxAnyDates  = regexp.MustCompile(`(?i)(?:^|\s)(EXDATE|RDATE)[;:]`)
)

// awxCheck finds out what AWX would say about a text.
type awxCheck struct {
	text    string
	columns []int
	errors  AWXErrors
}

// add notes an error about the text from byte i on.
func (c *awxCheck) add(i int, message string) {
	c.errors = append(c.errors, &language.SyntaxError{Column: c.columns[i], Message: message})
}

// limits makes AWX's own checks, in its order.
func (c *awxCheck) limits() {
	lower := strings.ToLower(c.text)
	for _, single := range []struct{ name, message string }{{"exdate:", awxNoEXDATE}, {"rdate:", awxNoRDATE}} {
		if at := strings.Index(lower, single.name); at >= 0 {
			c.add(min(at, len(c.text)), single.message)
			return // then it is the only error
		}
	}
	starts := awxStartAt.FindAllStringIndex(c.text, -1)
	if len(starts) == 0 {
		c.add(0, awxNoStart)
	}
	if naive := awxNaiveAt.FindStringIndex(c.text); naive != nil {
		c.add(naive[0], awxNaiveStart)
	}
	if len(starts) > 1 {
		c.add(starts[1][0], awxStarts)
	}
	if !strings.Contains(lower, "rrule:") {
		c.add(0, awxNoRule)
	}
	c.rules(awxRuleAt, awxNumberAt, awxCountAt, func(rule string) string { return rule })
	if column, message := parseLikeAWX(c.text); message != "" {
		c.errors = append(c.errors, &language.SyntaxError{Column: column, Message: awxFailed + message})
	}
}

// rules checks every rule, as the expressions find it.
func (c *awxCheck) rules(ruleAt, numberAt, countAt *regexp.Regexp, fold func(string) string) {
	for _, at := range ruleAt.FindAllStringIndex(c.text, -1) {
		rule := c.text[at[0]:at[1]]
		add := func(message string) { c.add(at[0], message+": "+rule) }
		lower := strings.ToLower(rule)
		switch {
		case !strings.Contains(lower, "interval"):
			add(awxNoInterval)
		case strings.Contains(lower, "secondly"):
			add(awxSecondly)
		}
		if numberAt.MatchString(rule) {
			add(awxNumbered)
		}
		if folded := fold(rule); strings.Contains(folded, "COUNT") && strings.Contains(folded, "UNTIL") {
			add(awxBothEnds)
		}
		if match := countAt.FindStringSubmatch(rule); match != nil {
			if n, ok := spelling.SmallNumber(match[1]); !ok || n > awxMaxCount {
				add(awxCount)
			}
		}
	}
}

// document makes the checks that AWX's document demands but its code passes over: the text starts with DTSTART; single
// dates are refused with parameters, too; and the limits of rules hold in any letter case and at any place of a list.
func (c *awxCheck) document() {
	if at := awxAnyDates.FindStringSubmatchIndex(c.text); at != nil {
		c.add(at[2], fmt.Sprintf("%s not allowed in rrule.", strings.ToUpper(c.text[at[2]:at[3]])))
		return
	}
	begin := strings.IndexFunc(c.text, func(r rune) bool { return !unicode.IsSpace(r) })
	if !strings.HasPrefix(c.text[begin:], "DTSTART") {
		c.add(begin, awxNoStart)
	}
	if at := awxStartAt.FindStringIndex(c.text); len(at) > 1 && at[1] < len(c.text) && !isSpaceAt(c.text, at[1]) {
		c.add(at[0], awxNoStart)
	}
	c.rules(awxAnyRule, awxAnyNumber, awxAnyCount, strings.ToUpper)
}

// isSpaceAt reports whether byte i is a blank.
func isSpaceAt(text string, i int) bool {
	return strings.IndexFunc(text[i:], unicode.IsSpace) == 0
}
