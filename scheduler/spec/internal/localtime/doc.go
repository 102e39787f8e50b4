// Package localtime implements sets of local times: seconds since 1970-01-01T00:00:00 on a clock that never changes.
//
// Every [Set] has one form:
//
//	Set ──▶ parts, one after the other ──▶ plus layers without minus layers
//	[Layer] = days with a cycle × masks of hours, minutes and seconds, in every n-th second, minute or hour (a stride)
//
// [Stepped] makes layers of steps, without a stride where masks suffice. [New] subtracts minus layers when the set is
// made, as far as the result is layers. A search takes the nearest time of a plus layer, removes the seconds of the
// minus layers from its minute, and passes the minute, or a day with known layers, if none is left; counting adds up the
// bits. A stride meets the times of its layer by Euclid's algorithm, or day by day.
//
// Guarantees: results depend only on the set and the second, and their cost does not depend on the distance in time.
// Next, Last and Count allocate nothing for a layer. Every search counts its work on its meter, and bounds its steps.
// With an exhausted meter, results are invalid. Sets are immutable and safe for concurrent use.
package localtime
