// Package stats counts the activity of processes per minute and aggregates it across them. It is pure: it does no I/O,
// and callers pass in the time.
//
// Each process feeds its stored records to a [Recorder] and describes its load in a [Report]. Callers share the encoded
// hours and reports between processes, and a [Board] combines them:
//
//	record ──▶ Recorder ──hours, failures──▶ Board ◀──reports── other processes
//
// # Guarantees
//
//  1. Counting a record takes less than a microsecond and allocates nothing, except for the first record of a target
//     in five minutes. A recorder keeps the job names and responses of the last failed runs, ten at most.
//  2. A minute takes some hundred bytes, however many runs it counts, and names no job.
//  3. A board does not depend on the order of added hours, reports and failures. A later report of a process replaces
//     an earlier one.
//  4. Percentiles have an error of at most one sixteenth ([Histogram]).
//  5. Unreadable data, for example from a later version, is ignored and does not hide the rest.
package stats
