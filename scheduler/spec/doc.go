// Package spec is Carillon's schedule languages: calendar mathematics without a clock, a store or a goroutine.
//
// A schedule goes through three forms. Text or JSON is read into a plain description, a [Recurrence] or a [Rule], and
// every problem of it is reported at once. The description is compiled, once, into a [Schedule], a set of instants. A
// [Plan] joins a schedule with the moment its job was created: what runs first, what was missed, what is left, and a
// [Preview] of it for people.
//
// Guarantees of every Schedule and Plan:
//
//  1. Next(t) > t, and no instant of the schedule lies between the two. Last and Count agree with Next.
//  2. The answer depends on the description and on t only: not on the wall clock, the host's zone or earlier calls.
//  3. Next costs the same however long ago the schedule began, because it jumps by arithmetic, and allocates nothing.
//  4. Every search is bounded. A schedule that never fires (30 February) is found out when it is compiled.
//  5. Instants end with the year 9999. There is no next one after it.
//  6. Values are immutable and safe for concurrent use.
//
// The instants here are nominal. Jitter, catch-up after an outage, overlap and retries are decided by the planner in
// package scheduler.
//
// # The Azure recurrence
//
// [Recurrence] is the recurrence of an Azure Scheduler job: a frequency, an interval, a count, an end and a schedule of
// elements that limit or expand. The page "Build advanced schedules and recurrences for jobs in Azure Scheduler" is its
// definition. Where that page is silent, these readings hold; their reasons are with the code:
//
//   - Everything is UTC. An offset in startTime fixes the instant and nothing else.
//   - Occurrences lie on the grid that startTime fixes; without one, the time of creation. Seconds and fractions of a
//     second are kept. "anchor": "lastExecution" chooses Azure's drifting grid instead.
//   - A month's or year's recurrence without schedule runs on the last day of a month that is too short; with a schedule
//     it skips that month.
//   - Minutes without hours are the minutes of every hour; hours without minutes take startTime's minute.
//   - For the frequencies hour, minute and second, hours only limit, and so do minutes unless the frequency is hour.
//   - Weeks begin on Monday. MonthDays and monthlyOccurrences together mean both.
//   - An empty array or an empty schedule says nothing.
//
// # The languages that are text
//
// [Parse] reads the cron of Obsidian Scheduler and of dsari, [Parse] the iCalendar recurrence of RFC 5545, of
// AWX and of dsari; their comments say how their documents are read where they are silent. No other package knows a
// dialect.
//
// Such a rule is a set of wall-clock seconds on the clock of a zone. All of them are put together from a few shapes: the
// days of a year, which depend on the weekday of its first day and on where the leap years are ([calendar.YearDays]); those days
// limited to every n-th day, month or year ([calendar.Dates]); the same times on all of them ([localtime.Tile]); every n-th second, minute
// or hour ([localtime.StepSet]); and what remains of such sets when others are taken out ([localtime.Difference]). Each shape finds its next
// element by arithmetic. A zone then makes instants of the seconds, under the policy for changes of its clock ([instant.zoned],
// [DST]).
//
// Searches for two cycles that meet give up after many thousand steps, which takes longer than the 400 years in which
// the calendar repeats itself. What gives up never fires. Days that meet a cycle a few hundred times in the whole calendar
// are looked up once, when the rule is compiled. An EXRULE that leaves nothing of very many instances, taken out one by
// one, means never if the rule has ended by then or both have come back to where they began; else it is refused.
package spec
