// Package wal is a write-ahead log: it keeps records in files, in the order they
// were appended. It is what lets the state of an emulator outlive its process.
//
// # What is guaranteed
//
//  1. A record that [Log.Then] or [Log.Wait] has confirmed was handed to the
//     operating system: the end of the process, however sudden, does not lose it.
//     With [Config.Sync] it was handed to the disk, and a power cut does not
//     either. Those who wait at the same time share one write, and one flush.
//  2. [Open] gives back every such record, in order, or fails. It may give back
//     records beyond, which were not confirmed, but never one without all before
//     it.
//  3. An unfinished record at the very end is cut off: it was not confirmed.
//     Other damage is reported with its file and offset as a [*CorruptError], and
//     nothing is changed; or, with [Config.Damaged], each is told, the files are kept
//     as they were, and all that is intact is given back.
//  4. After a write that did not succeed nothing more is written or confirmed.
//  5. A directory belongs to one open [Log] at a time, which a lock on a file in
//     it ensures; the system drops it with the process.
//  6. A [Snapshot] replaces the records so far by the state they led to, while
//     others are appended. A crash in the middle leaves the old files or the new.
//
// # Formats
//
// A [Format] says how records stand in files, and does not change: data that is
// there opens with the format that it was written in.
//
// [Segmented] has several files. "NNN.log" has the records from position NNN on,
// a number of bytes in sixteen hexadecimal digits; "NNN.snapshot" stands for all
// logs before that position. A file begins with a magic word and its position. A
// record is its length and a CRC-32C, each in four bytes, big-endian, and its
// bytes. The checksum covers the position too, so that a record within a record
// is not taken for one. A snapshot stands beside the log, which goes on in a new
// file when one is begun. Each part of it says itself as of which position it is,
// and the owner passes over the records that a part has already.
//
// [Single] has one file, "PREFIX-NNN.log", that begins with a magic word. A record
// is its length, its CRC-32C and the CRC-32C of these two, four bytes each,
// little-endian, and its bytes. A snapshot is a new file, with the next number:
// the records of the state, which must be that of the moment when the snapshot was
// begun, and then all that was appended since.
package wal
