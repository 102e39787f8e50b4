// Package collections has the console's list of collections and the page of each one: its jobs by state, its quotas,
// the limits of its targets and, for admins, the settings as a form.
//
//	list ──► create ──► page ──► form ──► save (If-Match) ──► page
//	                              ▲         │
//	                              └─ faults ┘ problems by field
//
// Guarantees:
//
//  1. The form changes its own settings only; other fields of the document stay unchanged.
//  2. A change applies to the shown collection (If-Match). After a concurrent change, saving again is a new decision.
//  3. A collection with jobs is deleted only if the user has confirmed the deletion of the jobs, too.
//
// Counts of jobs come from the search index and are missing while it is being built.
package collections
