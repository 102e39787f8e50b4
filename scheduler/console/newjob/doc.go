// Package newjob is the console's page that creates a job: its name, schedule (package builder), action and error
// actions (package jobform).
//
//	template, copy or paste ──► form ──► check (dry run) ──► save
//	                             ▲ └───► test run
//	                             └────── problems at their fields
//
// Guarantees:
//
//  1. The page never replaces an existing job.
//  2. No page contains a typed secret. The script keeps it in its field; without scripts, the user must type it again.
package newjob
