// Package index finds what the broker has: messages by number in a [Shelf], by
// turn in a [Lineup] and by time in a [Heap], entities by when they need a visit
// in a [Timetable], and ids that were seen before in [Duplicates].
//
// It knows nothing of entities and what happens in them. But for the timetable,
// nothing is safe for several goroutines: the mutex of the entity guards it.
package index
