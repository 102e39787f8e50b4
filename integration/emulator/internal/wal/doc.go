// Package wal is a write-ahead log: it keeps records in files, in the order they were appended, so that the
// state of an emulator survives its process.
//
//	Append ──▶ pending ──one write, one flush──▶ file ──▶ Then, Wait: confirmed
//	Open   ──▶ Restore (snapshot) ──▶ Replay (records since)
//
// # Guarantees
//
//  1. A record that [Log.Then] or [Log.Wait] has confirmed survives any end of the process. With [Config.Sync] it is on
//     disk and also survives a power failure. Concurrent waiters share one write and one flush.
//  2. [Open] returns every confirmed record, in order, or fails. It can return further, unconfirmed records, but none
//     without all before it.
//  3. An incomplete record at the very end is unconfirmed, and is cut off. Other damage is reported with its file and
//     offset as a [*CorruptError], and nothing is changed. With [Config.Damaged], each damage is reported, the files are
//     kept as copies, and all intact records are returned. One damage has no report: if the length of the last confirmed record
//     is damaged so that it exceeds the file, and an incomplete record follows, both are cut off.
//  4. After a failed write, nothing more is written or confirmed.
//  5. A directory belongs to one open [Log] at a time. A lock on a file in it ensures that; the system releases it with the
//     process.
//  6. A [Snapshot] replaces the records so far by the state they led to, while others are appended. A crash leaves either
//     the old files or the new.
//
// # Files
//
// "NNN.log" has the records from position NNN, a number of bytes in sixteen hexadecimal digits; "NNN.snapshot" replaces all
// logs before that position. A file begins with a magic word and its position. A record is its length and a CRC-32C, each in
// four bytes, big-endian, and its bytes. The checksum covers the position too, so that a record within a record is not misread
// as one. A snapshot starts a new log file. The format does not change: existing data opens.
package wal
