// Package logfile keeps records in a file so that they are there again after the process was killed.
//
//  1. A record that [File.Commit] has returned for was handed to the operating system: killing the process does not lose it.
//     Losing power can, unless the file was opened with Sync: then it is also on the disk.
//  2. Records come back in the order of their Append.
//  3. Commits that wait at the same time share one write, and one flush.
//  4. A last record that is not whole was cut off and never acknowledged: opening drops it. Damage anywhere else is an error of
//     opening, and nothing is changed.
//  5. After a write that did not succeed nothing more is taken: every later Commit returns the same error.
//  6. A file is used by one process at a time, which a lock on the folder's lock file ensures.
//  7. Rewriting replaces all records by others while new ones are appended. A crash in the middle leaves the old ones or the new.
//
// A file begins with a line that names its format. A record is its length, its CRC-32C and the CRC-32C of these two, four bytes
// each, and its bytes.
package logfile
