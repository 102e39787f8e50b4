// Package control implements the operations that users request. All APIs (REST, NATS, command line, console) call it and
// therefore behave identically.
//
//  1. An edit is stored by compare-and-set before its baton is moved. After a crash in between, the consistency check or
//     a repetition of the edit arms the job.
//  2. An invalid edit reports all problems together, with their paths, and changes nothing.
//  3. An edit applies to the next occurrence. A running occurrence, or one between retries, keeps its definition.
//  4. Edits that were published as specs carry the spec's stream sequence: an older spec never overwrites a newer one.
//  5. No response reveals a secret.
//
// [Service] has one part per kind of request: [Editor], [Reader], [Runner], [CollectionKeeper], [OperationKeeper],
// [Auditor] and others. The path of a put:
//
//	Editor.Put ──validate──▶ define ──compare-and-set──▶ store the job ──▶ arm its first baton, or
//	(put.go)                 (define.go)                 (create.go)       move its baton (replan.go)
package control
