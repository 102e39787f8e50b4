// Package job is the console's page of one job: its definition, its past and next runs, explanations, and actions.
//
//	records ──► runsOf: one line per occurrence ──► history, timeline, page of a run
//	events ──► status, timeline; "changed" ──► the script fetches the other parts
//	button ──► act ──► message (script) or redirect to the page
//
//	triggers of all jobs ──► chain: layers by the longest path ──► drawing, table
//
// Guarantees:
//
//  1. An occurrence is one line, which summarizes its records: attempts, retries and error actions. It is on one page of
//     the history.
//  2. After a lost connection, the page is complete again, because its content comes from the store.
//  3. A deletion applies to the shown job (If-Match).
//  4. Texts of targets are excerpts in lists and complete on the page of the run. Requests have no values of a query.
package job
