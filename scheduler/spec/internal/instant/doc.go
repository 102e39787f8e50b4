// Package instant makes instants of local times: a [Schedule] is what every schedule language compiles to.
//
// A schedule has one or more clocks. A clock is a set of local times in a zone, a policy for changes of the zone's clock
// ([DST]), excluded spans, a delay of a fraction of a second or some seconds, a start and an end. [NewZoned] makes a
// schedule of one clock, [UnionOf] joins schedules, and [Schedule.Without], [Schedule.Delay] and [Schedule.Clip] refine
// them. [Schedule.Begun] finds the first instant once, and remembers it.
//
// Next asks each clock and takes the earliest instant. A clock looks into one interval of its zone after the other, adds
// the times that the change at its start moves, and passes over excluded spans. Notes describes the changes in English,
// and NextGap finds those that take times away.
//
// Guarantees: no instant comes twice and none is out of order, also where a clock is turned back. Last and Count agree
// with Next. Instants end with the year 9999. Next and Last allocate nothing. Schedules are immutable and safe for
// concurrent use.
package instant
