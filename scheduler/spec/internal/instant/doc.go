// Package instant converts local times to instants. All schedule languages compile to its [Schedule].
//
//	set of local times ──clock: zone, DST policy, excluded spans, delay, start, end──▶ instants ──union──▶ Schedule
//
// A schedule has one or more clocks. [NewZoned] returns a schedule with one clock, [UnionOf] joins schedules, and
// [Schedule.Without], [Schedule.Delay] and [Schedule.Clip] refine them. [Schedule.Begun] finds and caches the first
// instant.
//
// Next returns the earliest instant of all clocks. A clock searches one interval of constant offset after the other,
// adds the times that the transition at its start moves, and skips excluded spans. Notes describes the transitions in
// English, and NextGap finds those that remove times.
//
// Guarantees: instants are unique and ordered, also where a clock is turned back. Last and Count agree with Next.
// Instants end with the year 9999. Next and Last allocate nothing. Schedules are immutable and safe for concurrent use.
package instant
