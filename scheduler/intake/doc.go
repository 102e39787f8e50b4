// Package intake bounds what a process takes from the store, and sees it
// through: batons in the worker, published specs in the NATS API.
//
//  1. A process never holds more messages than the limit of its [Room].
//  2. Messages are asked for in batches: little room is none.
//  3. A write that the store did not take is repeated until the store takes or
//     refuses it, or the process stops ([Persister]).
//  4. What is parsed at once is bounded by its bytes ([Parse]).
package intake
