// Package azure is the recurrence of an Azure Scheduler job: a frequency, an interval and a schedule of elements that
// limit or expand. The page "Build advanced schedules and recurrences for jobs in Azure Scheduler" is its definition.
// Where that page is silent, these readings hold; their reasons are with the code:
//
//   - Everything is UTC. An offset in startTime fixes the instant and nothing else.
//   - Occurrences lie on the grid that startTime fixes; without one, the time of creation. Seconds and fractions of a
//     second are kept, but for those of the creation where there is a schedule: that is on the full minute.
//     "anchor": "lastExecution" chooses Azure's drifting grid instead.
//   - A month's or year's recurrence without schedule runs on the last day of a month that is too short; with a
//     schedule it skips that month.
//   - Minutes without hours are the minutes of every hour; hours without minutes take startTime's minute.
//   - For the frequencies hour, minute and second, hours only limit, and so do minutes unless the frequency is hour.
//   - Weeks begin on Monday. monthDays and monthlyOccurrences together mean both.
//   - An empty array or an empty schedule says nothing.
//
// A [Recurrence] compiles to a tile, to steps or to a step set of package localtime, in UTC. Seconds of the start that the
// set does not have delay every occurrence.
//
// Guarantees: a recurrence without a problem in [Recurrence.Check] compiles; the schedule finds its next instant by
// arithmetic.
package azure
