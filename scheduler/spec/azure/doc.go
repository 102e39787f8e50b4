// Package azure implements the recurrence of an Azure Scheduler job: a frequency, an interval and a schedule of
// elements that limit or expand. Its definition is the page "Build advanced schedules and recurrences for jobs in Azure
// Scheduler". Where that page is silent, these interpretations apply; the code gives their reasons:
//
//   - All times are UTC. An offset in startTime only fixes the instant.
//   - Occurrences are on the grid of startTime, or else of the creation time. Seconds and their fractions are kept.
//     Exception: with a schedule and no startTime, occurrences are on the full minute. "anchor": "lastExecution"
//     selects Azure's drifting grid instead.
//   - Without a schedule, a monthly or yearly recurrence uses the last day of a month that is too short. With a
//     schedule, it skips that month.
//   - Minutes without hours apply to every hour; hours without minutes use startTime's minute.
//   - For the frequencies hour, minute and second, hours only limit, and so do minutes unless the frequency is hour.
//   - Weeks begin on Monday. With both monthDays and monthlyOccurrences, a day must match both.
//   - An empty array or an empty schedule has no effect.
//
// A [Recurrence] compiles to a tile, to steps or to a step set of package localtime, in UTC. If the set lacks the
// start's seconds, they delay every occurrence.
//
// Guarantees: a recurrence without a problem in [Recurrence.Check] compiles. The schedule finds its next instant by
// arithmetic.
package azure
