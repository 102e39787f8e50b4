// Package scheduler defines Carillon's vocabulary and makes its decisions. It is pure: it has no goroutine, no lock, no
// clock and no I/O. Callers pass in the time and carry out each decision.
//
// # One baton per job
//
// Every enabled job owns exactly one durable message, its [Baton]. The NATS server stores the waiting baton and fires
// it shortly before the job is due. A worker runs the job and publishes the next waiting baton:
//
//	          fire at due - lead              record, publish next, ack
//	waiting ──────────────────────▶ running ──────────────────────────▶ waiting
//	                                   │
//	                                   └──▶ removed: completed, faulted, disabled or deleted
//
// Carillon has no leader, no lock and no polling. A baton carries the job's counters and schedule position, and workers
// cache definitions until an edit. In the steady state, firing a job therefore reads nothing and writes two messages:
// the history record and the next baton.
//
// All decisions use the clock of the NATS server that leads the streams ([Store.Now]), so clock skew between replicas
// has no effect. The server fires a baton 500 ms early ([Job.ArmAt]), and 5 s earlier still in a cluster
// ([Store.Ahead]). The worker holds the baton until the exact due time.
//
// # Life cycle of a run
//
// The left column shows the stages in package engine; the right column shows the decisions in this package.
//
//	store    fires the baton, delivers it and renews its lease
//	  │
//	  ▼
//	receive  has an earlier worker run this attempt? ······▶ Recover  recovery.go
//	  ▼
//	hold     in memory, until the exact due time             hold.go
//	  ▼
//	admit    may the job run, and which occurrence? ·······▶ Decide   decide.go
//	  │        run │ detach │ skip │ wait │ restart │ drop │ astray │ orphan
//	  │        a disabled collection postpones the run       postpone.go
//	  │        a pause skips the times before its end        pause.go
//	  ▼
//	limit    wait for a slot of the target, or defer ······▶ Defer    postpone.go
//	  ▼
//	attempt  call the target, redact secrets
//	  ▼
//	record   append the history record ····················▶ After    step.go
//	  │                           retry (retry.go) │ next (plan.go) │ end (completion.go)
//	  ▼
//	pass on  package step publishes the next baton, or none at the job's end
//	  │
//	  ▼
//	store    acknowledges the message: waiting
//
// The last history record of a job marks its end. A background task then writes the end to the definition. In the
// meantime, a reader that finds an enabled job without a baton checks the history ([Job.Lifecycle]). If no record
// expresses the end, the worker writes the definition before it removes the baton ([Job.IsRecorded]).
//
// An edit takes another path: package control validates the document ([DefinitionDecoder]), stores the job and re-arms its baton
// ([Job.Replan]). An edit of an ended job starts it again and keeps only its counters ([Job.Edited], [Job.BegunGen]).
//
// # Guarantees
//
//  1. A crash loses nothing. A waiting baton is a stored message. Another worker receives a running baton about 3 s
//     after a crash of its worker, and 10 s after its worker stops responding on an open connection.
//  2. A job never forks. The store accepts the next baton only while the running baton is the job's last message, so
//     an overtaken worker changes nothing.
//  3. Never early. No action starts before the occurrence's nominal time plus its jitter.
//  4. At least once. A target receives a repeated call only after a crash between its answer and the history record.
//     The idempotency key is the same. A process leaves at most as many unrecorded attempts as it has slots, and
//     starts none while a record has waited for 1 s.
//  5. Nothing is silent. Every due time, and every run that events start, ends in at least one [Record]: completed,
//     failed, faulted, postponed, or skipped with a [Reason]. An event whose filter is false leaves no record.
//  6. An occurrence ends under the definition it started with, including its retries and error actions. An edit takes
//     effect with the next occurrence.
//  7. A deleted job runs nothing more, except for an attempt in progress. A disabled job starts no occurrence of its
//     schedule; started occurrences and manual runs end normally, including retries and error actions.
//  8. Secrets of jobs are sealed in the store. No API returns them, and no baton, record or log contains them
//     (package secrets).
//  9. No baton is removed while its state is uncertain. If its definition is missing and no deletion is certain, the
//     baton waits until the job is created again ([OrphanBaton]).
//
// Occurrences of one job are in order. Carillon promises no order between jobs.
//
// # Vocabulary
//
//	Definition   the job as its users wrote it
//	Progress     counters and schedule position of a job
//	Occurrence   one time of the schedule; the nominal time is its identity
//	Due          nominal time plus jitter: the earliest start of the occurrence
//	Attempt      one execution of an action
//	Record       a history entry: an attempt, or due times that did not run
//	Kind         planned, manual, detached from the job's own baton, or triggered by events
//	Event        a message, or the end of an attempt of another job, that can start runs of a job
//	Step         result of a decision: records, then the next baton or the job's end
//	Baton        the single durable message of an enabled job
//	Lane         a partition of the batons
//	Herd         many batons that are due at the same time
//
// # Packages around it
//
//	spec, document      schedule languages; job documents
//	expression          expressions of triggers (CEL)
//	source              sources of events; source/webhook: requests to webhooks
//	registry            the jobs that listen to events
//	engine              runs due jobs; engine/limits: target limits, circuit breakers
//	engine/step         executes a Step, for control and engine
//	control             edits, queries, forecasts, consistency checks
//	jobcache            cached buckets; the search index
//	historyindex        index of records
//	flow                bounded queues of stream messages
//	secrets             seals, reveals, redacts and rotates secrets
//	auth                roles (RBAC); auth/tokens: access tokens
//	api                 table of operations; api/v1: wire types; api/dispatch: calls control
//	rest, natsapi, awx  the APIs
//	client              Go client of the APIs
//	importer            creates jobs from other schedulers' formats
//
// Package store implements [Store]; its package failover detects dead processes, and redelivers their batons. The
// packages under actions implement [Action]. Imports point toward this package,
// and control and engine do not import each other: integration/imports_test.go enforces both rules.
// integration/guarantees_test.go names the tests of each guarantee and compares the first words of the list above.
package scheduler
