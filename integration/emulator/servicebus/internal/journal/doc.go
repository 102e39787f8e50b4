// Package journal keeps records in files, in the order they were appended. It is
// what lets an emulator's state outlive its process.
//
// # What is guaranteed
//
//  1. A record that [Log.Then] or [Log.Wait] has confirmed was handed to the
//     operating system: the end of the process, however sudden, does not lose it.
//     With [Config.Sync] it was handed to the disk, and a power cut does not
//     either.
//  2. [Open] gives back every such record, in order, or fails. It may give back
//     records beyond, which were not confirmed, but never one without all before
//     it.
//  3. An unfinished record at the very end is cut off: it was not confirmed. A
//     damaged one with intact records after it is reported with its file and
//     offset as a [*CorruptError], and nothing is changed.
//  4. A directory belongs to one open [Log] at a time.
//
// # Files
//
// "NNN.log" has the records from position NNN on, a number of bytes in sixteen
// hexadecimal digits; "NNN.snapshot" stands for all logs before that position. A
// file begins with a magic word, its version and its position. A record is its
// length and a CRC-32C, each in four bytes, and its bytes. The checksum covers
// the position of the record, so that a record within a record is not taken for
// one.
//
// A snapshot is made while records are appended: the log goes on in a new file,
// then the owner writes its state, each part with the position as of which it is,
// and then the old files go. When records come again, the owner passes over those
// that a part of the state has already.
package journal
