package language

import (
	"fmt"
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
	var b strings.Builder
	if e.Column > 0 {
		fmt.Fprintf(&b, "column %d", e.Column)
	}
	if e.Field != "" {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(e.Field)
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	b.WriteString(e.Message)
	if e.Hint != "" {
		b.WriteString("; hint: ")
		b.WriteString(e.Hint)
	}
	return b.String()
}
