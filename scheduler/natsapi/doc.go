// Package natsapi is the scheduler's API on NATS. It has two halves.
//
// # Published specs
//
// [Ingest] takes in what was published on <prefix>.spec.<verb>.<collection>.<job>.
// A spec is an order that outlives everybody: it may be published with any
// NATS client while no scheduler runs. The verbs are
//
//	put      create the job, or replace its definition; the body is the job, JSON or YAML
//	patch    merge the body into the definition (RFC 7396)
//	run      start it now, in addition to its schedule; the body is {"data"}, or empty
//	resubmit run an occurrence again; the body is {"occurrence", "force"}
//	pause    skip its runs until a time; the body is {"until"}
//	delete   remove the job; the body is ignored, as with the verbs below
//	enable   let it run again
//	disable  stop it until it is enabled
//
// Each spec is answered by one event on
// <prefix>.spec-result.<accepted|rejected>.<collection>.<job>:
//
//	{"verdict": "accepted", "verb": "put", "job": "default/report", "result": "created", "created": true, "revision": 7,
//	 "etag": "\"mzxw6ytb-1\"", "nextExecutionTime": "2026-03-02T10:00:00Z", "specSequence": 12, "time": "2026-03-01T09:30:00.123456789Z"}
//	{"verdict": "rejected", "verb": "put", "job": "default/report",
//	 "error": {"code": "BadRequest", "message": "…", "details": [{"path": "recurrence.interval", "message": "…"}]},
//	 "specSequence": 13, "time": "…"}
//
// The headers Carillon-If-Match and Carillon-If-None-Match of a spec are a condition
// ([scheduler.Condition]), with the ETag of an earlier event or answer: one that does not
// hold is a rejection with the code PreconditionFailed. With Carillon-Strict: true a
// spec that would be warned of is rejected, and with Carillon-Dry-Run: true nothing is
// changed, and the event has dryRun, what would be.
//
// claim is there when the spec had a header Carillon-By: who its publisher says that it is, which nobody has checked.
// result (created, updated or unchanged) comes with put and patch, and so do
// warnings ([{"path", "message"}]) when there are any; created comes with put,
// occurrence (its id) with run, message with a job that is over, and superseded
// (true) when a later spec has written the job already and this one was left out. The
// error is the same as that of the other APIs ([view.Error]). A
// subject that names no job, or no verb, is rejected on the rest of that
// subject; what a subject cannot hold is replaced by _.
//
// What is guaranteed:
//
//  1. A spec is removed only after its result is stored. A crash in between
//     repeats it, and repeating it changes nothing: put, patch, delete, enable
//     and disable find themselves done, and a repeated run has the same
//     occurrence id. So there is at least one result for each spec.
//  2. Nothing is refused because the store is away: the spec stays where it is
//     and is tried again.
//  3. Specs of one job take effect in the order of publishing, also when
//     several processes share the work: a spec waits until the ones before it
//     are done with. A process that lost a spec without knowing it, because it
//     hung, finds the job written by a later one and leaves its own out.
//  4. What is held in memory is bounded, in number and in bytes, however many
//     specs wait.
//  5. A spec that brought secrets, or that was rejected and may hold some, is
//     overwritten in the stream before it is removed from it, and no result
//     repeats anything of its content. Overwriting takes at most a tenth of the
//     time; what comes faster is removed at once and overwritten with the rest
//     of its block, at the latest when no spec waits. Until it is taken in, it
//     lies there in the clear, and in a cluster in the Raft logs until they are
//     compacted: where that is too long, name a shared secret, or use the micro
//     service.
//  6. A spec that was in the hands of a process that ended is taken in alone by
//     the next. When two processes have ended with it alone in their hands, it
//     is rejected, and says so: no spec ends process after process.
//  7. A spec with the Nats-Msg-Id of an earlier one on its subject takes no
//     effect, for at least two minutes after that one. It gets the result of the
//     earlier spec, with its sequence in duplicateOf.
//
// # Request and reply
//
// [API] is the micro service "carillon", for callers who want the answer in
// the same breath; `nats micro ls`, `info` and `stats` show it. See [API] for
// its subjects.
package natsapi
