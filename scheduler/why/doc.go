// Package why tells why a job ran at an instant, or did not. It is pure: what is
// asked, and all that is known, is a [Question], and [Explain] makes an [Answer] of
// it. What the history says comes first, then where the job's baton is, then what
// its schedule says; what none of these can tell is said to be unknown.
package why
