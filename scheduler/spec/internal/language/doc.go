// Package language is what the schedule languages have in common: a [Rule] with its [Setting], the [SyntaxError], the
// names of the dialects, and the [Hash] by which dsari chooses what a job leaves open.
//
// A language that is text is a package beside spec with a function Parse(text, dialect) ([Rule], error). It guarantees
// that the error is a *[SyntaxError] for each thing that is wrong, with its column, that a rule is immutable, and that
// compiling it is bounded in time.
package language
