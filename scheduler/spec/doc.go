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
//  2. The answer depends on the description and on t only: not on the present, the host's zone or earlier calls.
//  3. Next costs the same however long ago the schedule began, because it jumps by arithmetic, and allocates nothing.
//  4. Every question to a Plan has a budget of work, counted and not timed, so that the answer is the same on all machines.
//     A rule that cannot be compiled within it, its COUNT counted and its first run found, is refused as too costly. A
//     schedule that never fires (30 February) is found out then.
//  5. Instants end with the year 9999. There is no next one after it.
//  6. Values are immutable and safe for concurrent use.
//
// The instants here are nominal. Jitter, catch-up after an outage, overlap and retries are decided by the planner in
// package scheduler.
//
// # Rooms
//
// No other package knows a language; this one is what users see of all of them.
//
//	azure               the recurrence of Azure Scheduler
//	cron                the cron of Obsidian Scheduler, with @recur, and of dsari
//	rrule               the iCalendar recurrence of RFC 5545, of AWX and of dsari
//	internal/language   what a language is: Rule, Setting, SyntaxError
//	internal/instant    instants: local times on the clock of a zone, unions, DST
//	internal/localtime  sets of local times: tiles, step sets, set differences
//	internal/calendar   days, months, years, times of day, cycles
//	internal/tz         the names and offsets of zones
//	internal/english    the phrases of descriptions
//	internal/spelling   numbers and misspelled words
//	internal/work       what the search for an instant costs, and its bounds
//
// A rule that is text is a set of local times. All of them are put together from a few shapes, each of which finds its
// next element by arithmetic: the days of a year, which depend on the weekday of its first day and on where the leap
// years are; those days limited to every n-th day, month or year; the same times on all of them; every n-th second,
// minute or hour; and what remains of such sets when others are taken out. A zone then makes instants of the seconds.
//
// Steps that meet times of certain weekdays, or of all days, are computed: when, by Euclid's algorithm, and how often, by
// sums of quotients. A search for other cycles that meet stops after many thousand steps, which cover more than the 400 years
// in which the calendar repeats itself, and reports this ([GaveUp]). Days that meet a cycle a few hundred times in the whole
// calendar are looked up once, when the rule is compiled.
package spec
