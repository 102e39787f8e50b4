// Package history appends to and reads the append-only streams: [History] has the records of all jobs, [Audit] the audit
// log, [Events] the published events, and [Activity] the reports of what each process does.
//
//	CARILLON_HISTORY   carillon.history.<collection>.<job>.<outcome>
//	CARILLON_AUDIT     carillon.audit.<kind>.<collection>[.<job>]
//	CARILLON_EVENTS    carillon.event.<collection>.<name>
//	CARILLON_PULSE     carillon.pulse.hour.<process>.<hour>, carillon.pulse.report.<process>
//
// Appends have no conditions. If the server syncs every write, the records of many concurrent runs are stored in atomic
// batches (NATS ADR-50), which share one sync. In a cluster, a repeated record is stored once.
//
// Reads cost few requests: the last record of each outcome takes one request, and longer reads take batches of up to
// 1,024 messages. The server only reads forwards; a backwards read therefore takes ranges of sequences, latest first.
package history
