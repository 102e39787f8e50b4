// Package backup takes all that a scheduler knows of its jobs into one file, while it works, and brings it back: into the
// same store, or into another one with another prefix, other lanes or another number of replicas.
//
// # What a backup holds
//
// Definitions as they are stored, so that secrets stay sealed; collections, shared secrets, as sealed as they are, and the
// hashes of access tokens; and the batons, in which a job's progress rides: its counters, where it is in its schedule, a
// retry that is under way, how much of its count is used up. Of a job that is enabled and has no baton, the last records
// of its history, which say whether it has come to its end. Not the rest of the history, nor the audit trail.
//
// Each job is taken as of one moment, with the definition and the batons that it had then; of different jobs these moments
// differ. A job that is put while the backup is made may be in it or not.
//
// # The file
//
// One stream of zstd (RFC 8878), in it lines of JSON: the first is a [Header], then come entries in any order, one for
// each collection, secret, token and job, no name twice; the last one counts them, and has the SHA-256 of all lines before
// it. [Reader] refuses a file with anything else in it, one that was cut off, and one that was changed.
//
//	{"carillonBackup":1,"made":"…","version":"…","prefix":"carillon","lanes":4,"schema":1}
//	{"collection":"default","data":{…}}
//	{"secret":"api-key","data":{…}}
//	{"token":"k3v9x2mqpa","data":{…}}
//	{"job":"default/report","data":{…},"batons":[{"body":{…}}],"records":[…]}
//	{"end":{"collections":1,"secrets":1,"tokens":1,"jobs":1,"batons":1,"keys":["2026-03"],"sha256":"…"}}
//
// What is stored stands in data byte for byte. Where that is not JSON, because it is damaged, it stands in raw, in base64.
// A baton has detached, its name, when it is that of a detached run, and running when a worker had it.
//
// # What a restore promises
//
//  1. Nothing is written before the whole file was read and found in order.
//  2. A job's batons are written before its definition. So a job is there with all that belongs to it, or not at all: it
//     does not run without its definition, and a restore that was cut short goes on where it was when it is repeated. What
//     it has restored already is left alone, also when it has run, ended or been edited since.
//  3. No job has two batons afterwards, whatever schedulers do meanwhile.
//  4. An occurrence that a worker had when the backup was made is due again, under its key. What fell due since is left to
//     the job's catchUp.
package backup
