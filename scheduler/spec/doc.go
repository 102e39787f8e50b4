// Package spec implements Carillon's schedule languages. It is pure: it has no clock, store or goroutine.
//
//	text, JSON ──read──▶ Recurrence or Rule ──compile──▶ Schedule ──with creation time──▶ Plan ──▶ Preview
//
// A [Recurrence] or a [Rule] is a plain description; reading it reports all its problems together. It compiles once
// into a [Schedule], a set of instants. A [Plan] joins a schedule with the creation time of its job: the first run,
// missed runs and remaining runs, and a [Preview] for people.
//
// Guarantees of every Schedule and Plan:
//
//  1. Next(t) > t, and the schedule has no instant between the two. Last and Count agree with Next.
//  2. The result depends on the description and on t only: not on the present, the host's zone or earlier calls.
//  3. Next computes instants by arithmetic. Its cost does not depend on the age of the schedule, and it allocates
//     nothing.
//  4. Every query of a Plan has a budget of work, which is counted, not timed. The result is therefore the same on all
//     machines. A rule is refused as too expensive if the budget does not suffice to compile it, to count its COUNT and
//     to find its first run. A schedule that never fires (30 February) is detected at that time.
//  5. Instants end with the year 9999.
//  6. Values are immutable and safe for concurrent use.
//
// Instants are nominal. The planner in package scheduler applies jitter, misfire handling (catch-up), overlap and
// retries.
//
// # Packages
//
// Other packages use the languages through this package only.
//
//	azure               the recurrence of Azure Scheduler
//	cron                the cron of Obsidian Scheduler, with @recur, and of dsari
//	rrule               the iCalendar recurrence of RFC 5545, of AWX and of dsari
//	internal/language   the interface of a language: Rule, Context, SyntaxError
//	internal/instant    instants: local times on the clock of a zone, unions, DST
//	internal/localtime  sets of local times: layers without layers
//	internal/calendar   days, months, years, times of day, cycles
//	internal/tz         the names and offsets of zones
//	internal/english    the phrases of descriptions
//	internal/spelling   numbers and misspelled words
//	internal/work       the cost of searches, and its limits
//
// # Algorithms
//
// A rule is a set of local times in one form: layers without other layers, one span of time after the other. A layer has
//
//   - days of a year, which depend on the weekday of its first day and on the position of leap years
//   - such days in every n-th day, month or year
//   - the same times of day on all of these days, as masks of hours, minutes and seconds
//   - optionally, only the times in every n-th second, minute or hour
//
// A zone then converts seconds to instants.
//
// The intersection of steps with times on all days, or on certain weekdays, is computed: its elements by Euclid's
// algorithm, their number by sums of quotients. A search for the intersection of other cycles stops after many thousand
// steps, which cover more than the 400-year period of the calendar, and reports this ([GaveUp]). Days that meet a cycle
// a few hundred times in the whole calendar are listed when the rule is compiled.
package spec
