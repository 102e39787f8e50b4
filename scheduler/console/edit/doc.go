// Package edit is the console's pages that create a job and change one: its schedule (package builder), and its other
// fields, action and error actions (package jobform). A job is changed as a form or as YAML.
//
//	template, copy or paste ──► form ──► check (dry run) ──► save         new job (create.go, try.go)
//	                             ▲ └───► test run
//	                             └────── problems at their fields
//
//	open ──► type ──► review (dry run) ──► save (If-Match) ──► page      existing job (change.go, review.go)
//	           ▲          │                    │
//	           └─ problem ┘◄──── choices ◄─────┘ conflict
//
// The pages have no state on the server: their forms contain the job as it was opened.
//
// Guarantees:
//
//  1. Typed text is not lost: after a problem, an unreachable scheduler or a concurrent change, the page shows it again.
//     The exception is secrets, which no page contains; the script keeps them in their fields.
//  2. A dry run shows a change before it is saved: the differences, the next runs, and warnings. The saved change is the
//     shown one.
//  3. A change applies to the opened job (If-Match). After a concurrent change, the user chooses between both values of
//     each differing field and reviews the result before it is saved.
//  4. A change is a merge patch: untouched fields and stored secrets stay unchanged.
//  5. The page of a new job never replaces an existing job.
package edit
