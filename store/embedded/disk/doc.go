// Package disk looks after the files of a NATS server that is not running: it finds
// what a disk, or somebody, has damaged, takes that out so that the server keeps
// all the rest, and tells what was lost.
//
// The server checks what it reads, and is content with what is left: at the first
// bad record of a block it cuts off all that follow in it, and says little of it. A
// flipped bit costs one record here.
//
// # What is checked
//
//  1. The blocks of every stream, record by record, by their checksums and what
//     these do not cover: [Check] cuts the bad ones out, and goes on at the next
//     one that is sound.
//  2. Whether blocks are there of which the stream's index knows.
//  3. The files without a checksum of their own, which say when messages are due,
//     when they expire, and how far a consumer is. [Seal] takes their checksums
//     when the server has stopped. One that has changed since goes, and the server
//     makes it anew from the messages; after a sudden end, the first two do.
//  4. Whether the settings of a stream can be read; who opens the stream makes it
//     anew then, and finds its messages again.
//
// What is changed is kept as it was, in a folder for each start that changes
// anything.
//
// The format is that of nats-server 2.15, plain: blocks that are encrypted or
// compressed are left to the server.
package disk
