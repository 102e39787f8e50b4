// Package index contains the indexes of the broker: messages by number in a [Shelf], by turn or by time in a
// [Heap], entities by their next visit in a [Timetable], and ids for duplicate detection in [Duplicates].
//
// It knows nothing of entities and what happens in them. But for the timetable,
// nothing is safe for several goroutines: the mutex of the entity guards it.
package index
