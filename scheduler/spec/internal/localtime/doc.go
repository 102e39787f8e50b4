// Package localtime is sets of local times: seconds since 1970-01-01T00:00:00 on a clock that is never changed.
//
// The forms of a [Set], from the plainest to the most general:
//
//	Tile        times of day on dates                           two look-ups
//	Steps       every n-th second                               one division
//	StepSet     every n-th second, minute or hour in a tile     Euclid's algorithm, or day by day
//	Difference  tiles without tiles                             day by day: the tiles of a day decide its times
//	Except      any set without others                          run by run
//
// [Stepped] makes tiles of steps where it can, [Merge] joins tiles, and [NewDifference] subtracts tiles where that leaves
// tiles. [Range], [Eras], [Union] and [List] bound and join sets.
//
// Guarantees: the answers depend on the set and the second alone, and cost the same however far away they are. Next and
// Last allocate nothing. Every search counts its work on its meter, and bounds its steps. With an exhausted meter, the
// result is no answer. Sets are immutable and safe for concurrent use.
package localtime
