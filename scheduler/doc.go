// Package scheduler is the vocabulary of Carillon and its engine.
//
// # One baton per job
//
// Every enabled job owns exactly one durable message, its [Baton]. It waits on
// a timer subject until shortly before the job is due, is then fired to one
// worker, and is passed on by that worker as the next waiting baton:
//
//	waiting ──── due ───▶ running ──── run, record, publish next, ack ───▶ waiting
//
// There is no leader, no lock and no polling. The clock is the stream leader's,
// so skew between replicas does not matter. The job's counters and its place in
// the schedule ride in the baton; a definition is read once and then kept until
// it is edited. In the steady state firing a job reads nothing and writes two
// messages: the history record and the next baton.
//
// # What is guaranteed
//
//  1. A crash loses nothing. A waiting baton is a stored message; a running one
//     is delivered again ten seconds after its worker fell silent.
//  2. A job never forks. The next baton is accepted only while the running one
//     is the job's last, so a worker that was overtaken changes nothing.
//  3. Never early. No action begins before the occurrence's nominal time plus
//     its jitter.
//  4. At least once. A target sees a call again only after a crash between its
//     answer and the record of it, under the same idempotency key.
//  5. Nothing is silent. Every due instant ends in at least one [Record]:
//     completed, failed, faulted, postponed, or skipped with a [Reason].
//  6. An occurrence ends under the definition it began with, retries and
//     errorAction included; an edit counts from the next one.
//  7. A disabled or deleted job runs nothing more, beyond an attempt that was
//     under way.
//  8. Secrets of jobs are sealed in the store and shown by no door; neither
//     batons nor records nor logs hold them (package seal, [Vault]).
//
// Occurrences of one job are in order. Nothing is promised between jobs.
//
// # Parts
//
// [Service] does what users ask: put, patch, get, delete, run, enable, disable,
// list, history, audit. [Worker] runs what is due. What follows an attempt is
// decided by pure functions on [Job] (Begin, Rejoin, Arrive, After), given the
// baton, the result and the time. Running an [Action] is the only effect on
// the outside world. [Store] is implemented by package store, [Action] by the
// packages below actions.
package scheduler
