// Package store implements [scheduler.Store] on NATS JetStream. It is the only package that knows subjects, streams,
// buckets and headers. [Store] is the entry point; [Open] creates missing streams and buckets. A Store is the sum of
// four small stores on one connection:
//
//	conn       the connection: publishes, reads, creates streams, checks their health
//	batons     moves and delivers batons
//	history    appends to and reads the history, the audit log and the activity reports
//	buckets    definitions, collections, secrets, tokens, operations; announces changes
//	specs      published specs and their results
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
//	activity          stream CARILLON_PULSE                    carillon.pulse.{hour,day}.<process>.<n>, carillon.pulse.report.<process>
//	search index      object store carillon-index              jobs, a snapshot
//	changes           republished by the first five buckets    carillon.changed.<bucket>.<name>
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
