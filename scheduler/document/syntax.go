package document

import "fmt"

// SyntaxError is a mistake in the text of a document. It is the cause of the [Problem] that tells of it.
type SyntaxError struct {
	Line, Column int // where it is, both from 1; columns in characters
	Message      string
}

// Error returns "line:column: message".
func (e *SyntaxError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Message) }

// wrongText returns the problem of a mistake in the text.
func wrongText(line, column int, message string) Problem {
	e := &SyntaxError{line, column, message}
	return Problem{Message: e.Error(), Cause: e}
}
