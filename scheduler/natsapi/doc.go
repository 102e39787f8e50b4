// Package natsapi is the scheduler's API on NATS. It has two parts: [Ingest] processes published specs, and [API]
// answers requests.
//
// # Published specs
//
// A client publishes a spec on <prefix>.spec.<verb>.<collection>.<job>. The stream stores it, so any NATS client may
// publish while no scheduler runs. The verbs are
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
// The life of a spec:
//
//	stream ──► queue of its job ──► turn ──► claim ──► carry out ──► result event ──► removed
//	   ▲                             │                     │
//	   └── released: not its turn ───┘                     └── store unavailable: retried
//
// Each spec produces an event on <prefix>.spec-result.<accepted|rejected>.<collection>.<job>:
//
//	{"verdict": "accepted", "verb": "put", "job": "default/report", "result": "created", "created": true, "revision": 7,
//	 "etag": "\"mzxw6ytb-1\"", "nextExecutionTime": "2026-03-02T10:00:00Z", "specSequence": 12, "time": "2026-03-01T09:30:00.123456789Z"}
//	{"verdict": "rejected", "verb": "put", "job": "default/report",
//	 "error": {"code": "BadRequest", "message": "…", "details": [{"path": "recurrence.interval", "message": "…"}]},
//	 "specSequence": 13, "time": "…"}
//
// Some fields are optional:
//
//	claim        the header Carillon-By of the spec: the publisher's name, not verified
//	result       put, patch: created, updated or unchanged
//	warnings     put, patch: [{"path", "message"}], if there are any
//	created      put
//	occurrence   run: the id of the run
//	message      a job that has ended
//	superseded   true if a later spec has already written the job; this spec had no effect
//	error        rejected: as in the other APIs ([v1.Error])
//
// The headers Carillon-If-Match and Carillon-If-None-Match of a spec are a condition ([scheduler.Condition]) with the
// ETag of an earlier event or answer. A failed condition is a rejection with the code PreconditionFailed.
// Carillon-Strict: true rejects a spec that causes warnings. Carillon-Dry-Run: true stores nothing, and the field
// dryRun of the event has the effect.
//
// A subject without a valid job or verb is rejected on the rest of that subject, with _ in place of characters that a
// subject cannot contain.
//
// Guarantees:
//
//  1. A spec is removed only after its result is stored. A crash in between
//     repeats the spec without effect: put, patch, delete, enable and disable
//     are idempotent, and a repeated run has the same occurrence id. Each spec
//     therefore has at least one result.
//  2. A spec is not rejected because the store is unavailable: it stays in the
//     stream and is retried.
//  3. Specs of one job take effect in the order of publishing, even if several
//     processes share the work: a spec waits for the earlier ones. A process
//     that hung and lost a spec unnoticed finds the job written by a later spec,
//     and skips its own.
//  4. Memory is bounded, in the number of specs and in bytes, regardless of the
//     length of the queue.
//  5. A spec that contained secrets, or that was rejected and may contain some,
//     is overwritten in the stream before its removal, and no result repeats its
//     content. Overwriting takes at most a tenth of the time. Beyond that, specs
//     are removed immediately and overwritten with the rest of their block, at
//     the latest when no spec waits. Until the spec is processed, it is stored
//     unencrypted, in a cluster also in the Raft logs until their compaction. To
//     avoid that, refer to a shared secret, or use the micro service.
//  6. A spec whose process ended is processed alone by the next one. After two
//     processes have ended while they processed it alone, it is rejected with
//     that explanation. A spec cannot crash one process after another.
//  7. A spec with the Nats-Msg-Id of an earlier one on its subject has no
//     effect, for at least two minutes after that one. It gets the result of the
//     earlier spec, with its sequence in duplicateOf.
//
// # Request and reply
//
// [API] is the micro service "carillon", for callers that need a synchronous answer. `nats micro ls`, `info` and
// `stats` show it.
package natsapi
