// Package store implements [scheduler.Store] on NATS JetStream. It is the only package that knows subjects, streams,
// buckets and headers. [Store] is the entry point; [Open] creates missing streams and buckets.
//
//	data              location                                 subjects or keys
//	job definitions   bucket carillon-jobs                     <collection>.<job>
//	collections       bucket carillon-collections              <collection>
//	shared secrets    bucket carillon-secrets                  <name>
//	access tokens     bucket carillon-tokens                   <id>
//	operations        bucket carillon-operations               <id>
//	settings          bucket carillon-settings                 lanes, token-key, token-revoked-<id>, …
//	batons            streams CARILLON_TIMERS_<lane>           carillon.timer.<lane>.<collection>.<job>, carillon.fire.…
//	history           stream CARILLON_HISTORY                  carillon.history.<collection>.<job>.<outcome>
//	specs             stream CARILLON_SPECS                    carillon.spec.<verb>.<collection>.<job>
//	spec results      stream CARILLON_SPEC_RESULTS             carillon.spec-result.<verdict>.<collection>.<job>, carillon.spec-id.<hash>
//	audit log         stream CARILLON_AUDIT                    carillon.audit.<kind>.<collection>[.<job>]
//	activity          stream CARILLON_PULSE                    carillon.pulse.hour.<process>.<hour>, carillon.pulse.report.<process>
//	changes           republished by the first five buckets    carillon.changed.<bucket>.<name>
//
// # Batons
//
// A waiting baton is a scheduled message (NATS ADR-51): at its delivery time the server moves it to its fire subject,
// where a durable consumer delivers it to one worker:
//
//	          due: the server publishes           PassOn: publish next, then ack
//	timer ───────────────────────────────▶ fire ────────────────────────────────▶ timer
//	 Arm                                  Fire
//
// A subject holds one waiting baton, and publishing another one replaces it. Every transition is one message with a
// condition on the last sequence of a subject:
//
//	Arm       the timer subject is empty, or holds the baton to be replaced
//	Fire      the timer subject holds the baton that the fired one replaces
//	PassOn    the running baton is still the last message of the fire subject
//
// # Changes
//
// Changes are announced over core NATS, which is at most once. A consumer would be lossless, but would make the server
// re-read a block after every write. A watch detects loss, because the sequences of a stream have no gaps. It ends when
// it misses a message, when its connection is lost, or when the stream, queried every 10 s, has a newer change.
//
// # Durability
//
// Records have no conditions. If the server syncs every write, the records of many concurrent runs are stored in atomic
// batches (NATS ADR-50), which share one sync.
//
// The streams of batons and specs are work queues without limits on age, count or size, because a limit would drop
// jobs. Acknowledged writes survive a killed server. They survive a power failure only if the server syncs every write
// or the stream has three replicas.
package store
