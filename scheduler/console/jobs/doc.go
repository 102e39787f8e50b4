// Package jobs is the console's table of all jobs, with search as you type, filters, sorting and pages, and its bulk
// operations.
//
//	filter ──► table ──► selection ──► confirmation ──► progress ──► end
//	                                    proposed          running or canceled
//
// A bulk operation is an operation of the service, proposed until the user confirms it. The table comes from the search
// index. While the index is being built, it lists jobs by name only, without sorting and counts.
package jobs
