// Package historyindex finds scattered records of a history. The store reads records in blocks of about a thousand, so
// reading a hundred records spread over a million takes about a second. An [Index] holds the fields that filters
// compare, one table row per record, and finds the sequences of the records to read.
//
// # Guarantees
//
//  1. The store remains the source of truth. The caller appends records in order ([Index.Append]). The index answers
//     for one range of sequences ([Index.Span]); for records outside the range, ask the store.
//  2. Within the range, [Index.Search] omits no matching record. It also returns candidates: records that do not match,
//     because it rounds times, and records that the store has removed, by count per job or with their job.
//  3. Memory is bounded: the index drops the oldest rows, and its range begins later. A row takes 32 bytes, and each
//     distinct job and combination of traits about 200 bytes while it has rows.
package historyindex
