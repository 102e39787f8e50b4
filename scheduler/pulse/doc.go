// Package pulse counts what processes do, minute by minute, and adds up what several of them have counted. It is pure: it
// does no I/O, and is given the time.
//
// A [Recorder] is told of each record that its process has stored, and a [Report] says how busy that process is. Both are
// written to bytes, for somebody to keep them where all processes find them, and a [Board] is made of everybody's.
//
// # Guarantees
//
//  1. To count a record takes less than a microsecond and no memory, but for the first record of a target in five minutes.
//     Of the last runs that failed for good it keeps the names and answers: ten at most.
//  2. What is kept of a minute takes some hundred bytes, however much has run in it, and does not name a job.
//  3. Boards do not depend on the order in which hours, reports and failures are added. Of two reports of a process the later counts.
//  4. A percentile is wrong by a sixteenth at most ([Histogram]).
//  5. What cannot be read, as of a later version, is left out, and never keeps the rest from being shown.
package pulse
