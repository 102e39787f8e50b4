package language

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// SyntaxError is one thing that is wrong with the text of a schedule.
type SyntaxError struct {
	Column  int    // where it stands, in characters from 1; 0 if it is about the whole text
	Field   string // "field 3 (day of month)" or "RRULE part BYDAY"; may be empty
	Message string // what was found and what is allowed
	Hint    string // what was probably meant; may be empty
}

// Error returns the error in one line: "column 5, field 3 (day of month): 32 is not in 1-31; hint: …".
func (e *SyntaxError) Error() string {
	place, text := e.Field, e.Message
	if e.Column > 0 {
		place = strings.TrimSuffix(fmt.Sprintf("column %d, %s", e.Column, e.Field), ", ")
	}
	if place != "" {
		text = place + ": " + text
	}
	if e.Hint != "" {
		text += "; hint: " + e.Hint
	}
	return text
}

// InOrder returns problems in the order of their places, so many at most.
func InOrder(problems []*SyntaxError, most int) []*SyntaxError {
	slices.SortStableFunc(problems, func(a, b *SyntaxError) int { return cmp.Compare(a.Column, b.Column) })
	return problems[:min(len(problems), most)]
}

// Join returns problems in order as one error: the problem itself if there is one.
func Join(problems []*SyntaxError, most int) error {
	if len(problems) == 1 {
		return problems[0]
	}
	var list []error
	for _, problem := range InOrder(problems, most) {
		list = append(list, problem)
	}
	return errors.Join(list...)
}
