// Package stats counts the activity of processes per minute and aggregates it across them. It is pure: it does no I/O,
// and callers pass in the time.
//
// Each process feeds its stored records to a [Recorder] and describes its load in a [Report]. Callers share the encoded
// periods and reports between processes, and a [Board] combines them:
//
//	record ──▶ Recorder ──periods, groups──▶ Board ◀──reports── other processes
//
// # Guarantees
//
//  1. Counting a record takes less than a microsecond, without the search for the cause of a failure that has no
//     status. It allocates only for the first record of a target in five minutes, and for the first failure of a cause
//     or a job. The causes and the job names are bounded.
//  2. A minute takes some hundred bytes, however many runs it counts, and names no job.
//  3. A board does not depend on the order of added periods, reports and groups. A later report of a process replaces
//     an earlier one.
//  4. Percentiles have an error of at most one sixteenth ([Histogram]).
//  5. Unreadable data, for example from a later version, is ignored and does not hide the rest.
package stats
