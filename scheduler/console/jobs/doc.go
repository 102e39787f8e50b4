// Package jobs is the console's table of all jobs, with search as you type, filters, sorting and pages, and its bulk
// operations.
//
//	filter ──► table ──► selection ──► confirmation ──► progress ──► end
//	                                    proposed          running or canceled
//
// Guarantees:
//
//  1. The URL has the filter, the order and the position, with the parameters of the APIs (view.JobSearch).
//  2. A bulk operation is an operation of the service, proposed until the user confirms it. It continues without the page.
//  3. The caller sees and selects jobs of permitted collections only; the service checks each job again.
//
// The table comes from the search index. While the index is being built, it lists jobs by name only, without sorting and
// counts.
package jobs
