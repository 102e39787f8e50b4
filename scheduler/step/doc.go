// Package step carries out what was decided for a job: it writes the records of
// a [scheduler.Step], and then moves the job's baton, writes the job's end, or
// counts a detached run in. The service and the worker share it, so a step means
// the same whoever takes it.
//
//  1. Records come first. Who finds the next baton finds what led to it.
//  2. A baton is moved by one atomic message, which takes effect only while the
//     baton is where the step was decided for: [From]. [scheduler.ErrConflict]
//     says that it is not, and nothing was moved.
//  3. An end is written by compare-and-set. One that an edit has overtaken is
//     not written ([ErrOvertaken]). Until it is written, an enabled job without a
//     baton is asked for in its history: [Executor.Settled] and [Executor.Look].
//  4. What may have been recorded before is looked for in the history, and not
//     recorded twice.
package step
