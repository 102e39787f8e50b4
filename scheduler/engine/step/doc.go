// Package step executes the decisions of package scheduler: it writes the records of a [scheduler.Step], and then moves
// the job's baton, writes the job's end, or merges a detached run. The packages control and engine share it, so a step
// has the same effect in both.
//
//	records ──▶ Move ──┬──▶ next baton (ScheduleAt, Fire or Reschedule)
//	                   ├──▶ end of the job (End)
//	                   └──▶ counters of a detached run (merge)
//
// Guarantees:
//
//  1. Records come first. A process that finds the next baton finds the records that led to it.
//  2. One atomic message moves a baton, only while the baton is where the decision found it: [From]. Otherwise nothing
//     moves, and the error is [scheduler.ErrConflict].
//  3. An end is written by compare-and-set, unless an edit has overtaken it ([ErrOvertaken]). Before that, readers
//     check the history of an enabled job without a baton: [Executor.Settled] and [Executor.Snapshot].
//  4. Records that may already exist are searched for in the history, and not written twice.
package step
