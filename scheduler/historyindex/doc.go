// Package historyindex finds records of a history that are far apart. The store
// reads them by the block, of some thousand records, so that a hundred of them
// that are spread over a million take it a second; an [Index] holds what filters
// ask of each record in a row of a table, and the records themselves packed.
//
// # Guarantees
//
//  1. It is never the truth, which is the store. It is told of records in their
//     order ([Index.Append]), and answers for a range of sequences alone
//     ([Index.Span]); what is outside is to be asked of the store.
//  2. It answers with records that were stored, and leaves none out. It drops the
//     records that the store drops because a job has too many, or because they are
//     too old ([Index.Drop]). Those of a deleted job it keeps until they are old:
//     their incarnation tells them from those of a job that is there.
//  3. Its memory is bounded: the oldest records are dropped, and the range begins
//     later.
package historyindex
