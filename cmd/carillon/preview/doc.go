// Package preview is `carillon preview`: when a schedule or a job would run, without a scheduler.
//
// It reads an expression in any language, a recurrence or a job, and makes the plan that the scheduler would make,
// so that both tell the same times. What it has to assume, such as a start, it says in a note. Everything wrong is
// told at once, with the place in the text where it has one.
package preview
