// Package instant is sets of instants: what a [Schedule] is, and how local times become one on the clock of a zone.
//
// [NewZoned] makes instants of local times, under a policy for changes of the clock ([DST]); [UnionOf], [Clip] and
// [Delay] put schedules together. [Notes] says in English what the changes do to a schedule, [NextGap] finds those that
// take times away.
//
// Guarantees: no instant comes twice and none is out of order, also where a clock is turned back. Last and Count agree
// with Next. Instants end with the year 9999. Schedules are immutable and safe for concurrent use.
package instant
