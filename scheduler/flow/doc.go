// Package flow bounds the work that a process accepts from the store, and persists its results: batons in the worker,
// published specs in the NATS API.
//
//  1. A process never holds more messages than the limit of its [Buffer].
//  2. It requests messages in batches, and none while less than a batch has room.
//  3. [RetryWriter] repeats a write until the store accepts or rejects it, or the process stops.
//  4. [Parse] bounds the total size of the documents that the process parses concurrently.
package flow
