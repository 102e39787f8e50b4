// Package store holds accounts, queues and messages, in memory or also in a file.
//
//  1. Every change is a record. The same function applies a record when it is made and when it is replayed, so that a
//     restart restores the same state, with visibility, dequeue counts and pop receipts.
//  2. A method returns once the records of its changes are safe in the sense of package wal. A read can show a change
//     slightly earlier.
//  3. The caller passes the time, which never runs backwards, even between concurrent calls. No method returns an expired
//     message; its memory is freed at the next use of its queue.
//  4. Messages are received in the order in which they became visible, and at one time in order of arrival.
//  5. The file is rewritten when its size has doubled since the last rewrite, and after opening a long one. The call that
//     notices it does the work; others continue.
//
// Without a folder, nothing is written.
package store
