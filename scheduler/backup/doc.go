// Package backup writes a scheduler's jobs and settings to one file while the scheduler runs, and restores them to the
// same store or to one with another prefix, number of lanes or number of replicas.
//
//	Take:     store ──▶ Writer ──▶ file
//	Restore:  file ──▶ Verify ──▶ Plan ──▶ Restore ──▶ store
//	                   whole file  conflicts
//
// # Contents
//
// A backup contains job definitions as stored, so secrets stay sealed; collections; sources of events; sealed shared
// secrets; hashes of access tokens; and batons, which carry a job's progress: its counters, its schedule position, a
// pending retry and the used part of its count. For an enabled job without a baton it contains the last history records,
// which show whether the job has ended. It does not contain the rest of the history, the audit log or published events.
// The registry of triggers follows from the definitions: a restore registers a job before it writes the definition, as
// an edit does.
//
// Each job is consistent in itself: its definition and batons are from the same moment. Different jobs are from
// different moments. A job created during the backup may be missing.
//
// # File format
//
// A file is one zstd stream (RFC 8878) of JSON lines. The first line is the [Header]. Entries follow in any order, one
// for each collection, source, secret, token and job, without duplicates. The last line has the counts and the SHA-256
// of all lines before it. [Reader] rejects unknown content, a truncated file and a modified file.
//
//	{"carillonBackup":1,"made":"…","version":"…","prefix":"carillon","lanes":4,"schema":1}
//	{"collection":"default","data":{…}}
//	{"source":"default.orders","data":{…}}
//	{"secret":"api-key","data":{…}}
//	{"token":"k3v9x2mqpa","data":{…}}
//	{"job":"default/report","data":{…},"batons":[{"body":{…}}],"records":[…]}
//	{"end":{"collections":1,"secrets":1,"tokens":1,"jobs":1,"batons":1,"keys":["2026-03"],"sha256":"…"}}
//
// The field data holds the stored value byte for byte. A damaged value that is not JSON is in raw, as base64. A baton's
// field detached names its detached run; running marks a baton that a worker held.
//
// # Guarantees of a restore
//
//  1. Callers run [Verify] first, so a restore writes nothing unless the whole file is valid.
//  2. A job's definition is written after its batons. A job without definition does not run, so a job is restored
//     completely or not at all. An interrupted restore resumes when it is repeated. It does not touch jobs that it has
//     already restored, even if they have run, ended or been edited since.
//  3. No job has two batons afterwards, even if schedulers run at the same time.
//  4. An occurrence that a worker held during the backup is due again, with the same idempotency key. The job's misfire
//     policy (catchUp) handles the times missed since the backup.
package backup
