// Package localtime is sets of local times: seconds since 1970-01-01T00:00:00 on a clock that is never changed.
//
// A [Tile] is certain times on certain dates. A [StepSet] is every n-th second, minute or hour, where that does not
// come back to the same times every day. A [Difference] is tiles without other tiles. What else there is joins such
// sets: a [Range], a [Union], [Eras], and [Except], which leaves seconds out one by one.
//
// Guarantees: the answers depend on the set and the second alone, and cost the same however far away they are. Next and
// Last allocate nothing. Every search counts its work on the meter that it is given, and bounds its steps. With an
// exhausted meter, the result is no answer. Sets are immutable and safe for concurrent use.
package localtime
