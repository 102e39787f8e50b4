// Package store holds accounts, queues and messages, in memory or also in a file.
//
//  1. Every change is a record. The same function applies a record when it is made and when it is read again, so that a restart
//     leads to the same state: visibility, dequeue counts and pop receipts included.
//  2. A method returns when the records of what it did are safe in the sense of package wal. A method that only reads may
//     show a change a moment before that.
//  3. Time is passed in, and does not run backwards between calls that overtake each other. A message that has expired is gone for
//     every method; its memory is freed at the next use of its queue.
//  4. Messages are taken in the order in which they became visible, those of one time in the order of their arrival.
//  5. The file is rewritten when it has become twice as long as after the last time, and when a long one was opened; the call
//     that finds it so does that, the others go on.
//
// Without a folder nothing is written.
package store
