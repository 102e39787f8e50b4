// Package historyindex finds scattered records of a history. The store reads records in blocks of about a thousand, so
// reading a hundred records spread over a million takes about a second. An [Index] holds the fields that filters
// compare, one table row per record, and the compressed records.
//
// # Guarantees
//
//  1. The store remains the source of truth. The caller appends records in order ([Index.Append]). The index answers
//     for one range of sequences ([Index.Span]); for records outside the range, ask the store.
//  2. Within the range, [Index.Search] omits no matching record and returns only stored ones. The index drops records
//     that the store drops by count per job or by age ([Index.Drop]). It keeps the records of deleted jobs until they
//     reach that age: their incarnation distinguishes them from those of a current job.
//  3. Memory is bounded: the index drops the oldest records, and its range begins later.
package historyindex
