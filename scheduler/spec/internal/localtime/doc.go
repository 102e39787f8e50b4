// Package localtime implements sets of local times: seconds since 1970-01-01T00:00:00 on a clock that never changes.
//
// The implementations of [Set], from simple to general:
//
//	Tile        times of day on dates                           two lookups
//	Steps       every n-th second                               one division
//	StepSet     every n-th second, minute or hour in a tile     Euclid's algorithm, or day by day
//	Difference  tiles without tiles                             day by day: the tiles of a day decide its times
//	Except      any set without others                          run by run
//
// [Stepped] converts steps to tiles where possible, [Merge] joins tiles, and [NewDifference] subtracts tiles where the
// result is tiles. [Range], [Eras], [Union] and [List] bound and join sets.
//
// Guarantees: results depend only on the set and the second, and their cost does not depend on the distance in time.
// Next and Last allocate nothing. Every search counts its work on its meter, and bounds its steps. With an exhausted
// meter, results are invalid. Sets are immutable and safe for concurrent use.
package localtime
