// Package service does what users ask of the scheduler. All APIs (REST, NATS,
// the command line, the console) call it, so they cannot differ.
//
//  1. An edit is stored by compare-and-set before its baton is moved, so a crash
//     in between leaves a job that the audit, or the same edit again, arms.
//  2. An edit says everything that is wrong with it at once, with paths, and
//     changes nothing then.
//  3. An edit counts from the next occurrence on. One that is running or being
//     retried ends under the definition it began with.
//  4. Edits that were published carry the sequence of their spec: an older one
//     never overwrites a newer one.
//  5. No answer shows a secret.
//
// The way of a put: [Editor.Put] (put.go) reads and checks the document
// (define.go, package scheduler's Reading), stores the job, and has package step
// arm its first baton, or has the baton follow the edit (replan.go).
package service
