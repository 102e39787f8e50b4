// Package scheduler is the vocabulary of Carillon and its decisions. It is pure:
// it has no goroutine, no lock, no clock and no I/O. The time is passed in, and
// what follows from a decision is carried out by the packages below it.
//
// # One baton per job
//
// Every enabled job owns exactly one durable message, its [Baton]. It waits on
// a timer subject until shortly before the job is due, is then fired to one
// worker, and is passed on by that worker as the next waiting baton:
//
//	waiting ──── due ───▶ running ──── run, record, publish next, ack ───▶ waiting
//
// There is no leader, no lock and no polling. The clock is that of the NATS server
// that leads the streams ([Store.Now]), so skew between replicas does not matter: it
// fires a baton half a second early ([Job.ArmAt]), and five seconds sooner in a
// cluster ([Store.Ahead]), and a worker holds it until the instant by that clock.
// The job's counters and its place in the schedule ride in the baton; a definition
// is read once and then kept until it is edited. In the steady state firing a job reads nothing and writes two
// messages: the history record and the next baton.
//
// # The life of a run
//
//	store: a timer fires ─▶ puller.go delivers, and renews the lease
//	                            │
//	worker (life.go)            ▼                                decided here
//	  received.go    is it known? was it run before? ········▶ Recover  recovery.go
//	     ▼
//	  held.go        in memory, until the exact instant; one of many as it is stored,
//	     ▼           which is read again when it has its slot (hold.go)
//	  admitted.go    may it run, and what? ··················▶ Decide   decide.go
//	     │             run │ detach │ skip │ wait │ restart │ drop │ orphan
//	     │             a disabled collection postpones: postpone.go
//	     ▼           a slot of its target: limits/limiter.go,
//	     │             or deferred.go: later ················▶ Defer    postpone.go
//	  attempted.go   the action is called, secrets are redacted
//	     ▼
//	  recorded.go    the history has it ·····················▶ After    after.go
//	     ▼                              retry (retry.go) │ next (plan.go) │ end
//	  passed.go      step/executor.go: records, then the next baton, or none
//	     │             at the end, which finalizer.go writes down at leisure
//	                            │
//	store: PassOn, and the message is acknowledged ─▶ waiting
//
// The record that ends a job is its end. Its definition says so when there is
// leisure; until then, whoever finds it enabled and without a baton asks the history
// ([Job.Course]). An end that no record tells is written before the baton goes
// ([Job.Told]).
//
// An edit goes the other way: service/put.go and define.go read it with a
// [Reading], store the job, and have its baton follow by [Job.Replan]. One that
// changes a job at its end lets it begin again; of what ran before, only the
// counters go on ([Job.Edited], [Job.BegunGen]).
//
// # What is guaranteed
//
//  1. A crash loses nothing. A waiting baton is a stored message; a running one
//     is delivered again in about three seconds when its worker was killed, and
//     ten seconds after one fell silent whose connection stands.
//  2. A job never forks. The next baton is accepted only while the running one
//     is the job's last, so a worker that was overtaken changes nothing.
//  3. Never early. No action begins before the occurrence's nominal time plus
//     its jitter.
//  4. At least once. A target sees a call again only after a crash between its
//     answer and the record of it, under the same idempotency key. A process leaves
//     at most as many such attempts as it has slots, and starts none while a record
//     has waited for a second.
//  5. Nothing is silent. Every due instant ends in at least one [Record]:
//     completed, failed, faulted, postponed, or skipped with a [Reason].
//  6. An occurrence ends under the definition it began with, retries and
//     errorActions included; an edit counts from the next one.
//  7. A deleted job runs nothing more, beyond an attempt that was under way. A
//     disabled one begins no occurrence of its schedule; its begun occurrences and
//     manual runs end as usual, retries and errorActions included.
//  8. Secrets of jobs are sealed in the store and shown by no API; neither
//     batons nor records nor logs hold them (package secrets).
//  9. No baton is removed in doubt. One whose definition is missing, and was not
//     deleted for certain, waits until it is put again ([Stray]).
//
// Occurrences of one job are in order. Nothing is promised between jobs.
//
// # The words
//
// A job has a [Definition], which users write, and a [Progress]. Each instant of
// its schedule is an occurrence, whose nominal time is its identity; it is due
// when it may run, its jitter later. One try of its action is an attempt, and
// attempts and everything that did not run are records. A run is planned, by
// hand, or detached from the job's baton ([Kind]). What follows from a decision
// is a [Step]: records, and the next baton or the job's end.
//
// # The rooms around it
//
//	service    what users ask for           cache     mirrors of buckets
//	worker     what is due                  limits    slots, rates, circuits of targets
//	index      what searches look through
//	step       carries out a Step           secrets   sealing, revealing, redacting, rotation
//	view       what the APIs show           intake    what a process holds of a stream
//	rest, natsapi   the APIs                document, spec   reading jobs, and their schedules
//	awx        schedules of AWX's API, made jobs and shown
//	client     asks a scheduler, over REST or NATS      importer   makes jobs of what others have
//	access     who may do what              tokens    access tokens
//
// [Store] is implemented by package store, [Action] by the packages below
// actions. Imports point from the rooms to here, and service and worker do not
// know each other; integration/imports_test.go says so, and guarantees_test.go there
// which tests show which guarantee.
package scheduler
