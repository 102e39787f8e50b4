// Package language defines the interface of schedule languages: a [Rule] and its [Context], the [SyntaxError], the
// names of the dialects, and the [Hash] that selects positions which a dsari schedule leaves open.
//
// The implementation of a text language is a package under spec with a function Parse(text, dialect) ([Rule], error).
// It guarantees that the error is a *[SyntaxError] with a column for each mistake, that a rule is immutable, and that
// compiling it takes bounded time.
package language
