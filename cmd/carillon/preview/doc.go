// Package preview is `carillon preview`: it lists the next runs of a schedule or a job without a scheduler.
//
// It reads an expression in any schedule language, a recurrence or a job, and computes the same plan as the
// scheduler. Notes state its assumptions, such as the start. All problems are reported together, with their
// position in the text if known.
package preview
