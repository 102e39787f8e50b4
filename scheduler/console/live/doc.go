// Package live is the console's live tail of all attempts, with pages of earlier ones.
//
//	history ──► tail: keeps the newest, counts the rest ──► every turn: batch ──► event ──► browser
//
// Guarantees:
//
//  1. After a lost connection, the browser resumes where it was: each event has the sequence of its last record. If the
//     position is no longer retained, the page shows a gap.
//  2. A browser receives only as many lines as it can show. The others are counted in their place, with a link to the page
//     of the history that has them: no record is dropped silently.
//  3. Memory per reader is bounded, even if it reads slowly.
package live
