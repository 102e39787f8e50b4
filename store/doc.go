// Package store keeps Carillon's data in NATS JetStream. It is the one place
// that knows subjects, streams, buckets and headers.
//
//	what              where                                    subjects or keys
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
//	audit trail       stream CARILLON_AUDIT                    carillon.audit.<kind>.<collection>[.<job>]
//	what is done      stream CARILLON_PULSE                    carillon.pulse.hour.<process>.<hour>, carillon.pulse.report.<process>
//	changes           published again by the first five        carillon.changed.<bucket>.<name>
//
// A waiting baton is a message with a delivery time (NATS ADR-51): the server
// moves it to its fire subject when that comes. One subject holds one message,
// so publishing a baton replaces the one before. Every move is one message with
// a condition on the last sequence of a subject:
//
//	arm       timer subject must be empty, or hold the baton that is replaced
//	run now   timer subject must hold the baton whose place the fired one takes
//	pass on   fire subject must still end with the running baton
//
// What has changed is told by core NATS, which may lose a message, and not by a
// consumer, which costs the server a read behind every write. A watch counts: the
// sequences of a stream have no gaps. It ends when one was not told, when its
// connection was lost, and when the stream, asked every ten seconds, has had more.
//
// Records have no conditions. With a server that waits for the disk at every write
// those of many runs at once are stored in batches (NATS ADR-50, atomic): all or none
// of a batch, with one such wait.
//
// The streams of batons and specs are work queues without limits of age, count
// or size: a limit would drop a job. Acknowledged writes survive a killed
// server. They survive power loss only on a server that syncs every write, or
// with three replicas.
package store
