// Package cache mirrors a bucket of the store in the memory of a process: a
// [Mirror] holds values by key, and a watch on the bucket keeps it honest.
//
// # Two kinds of watch
//
// A watch that tells values, with [Config.Decode], fills the mirror: what it has
// told of is all that there is. It suits a bucket of few values, which all are
// needed. A watch that tells only that something has changed empties it: what is
// read is kept until then. It suits a bucket of many values, of which a process
// needs some.
//
// # Guarantees
//
//  1. Peek answers only while a watch stands, and then with a value that was the
//     latest when the watch last told of that key. A process's own write, once
//     noted, is known at once.
//  2. Current never answers with a revision older than the one it is asked for,
//     or was told of: it reads the store when the mirror has no newer value, or no
//     watch, and again while that does not know it. A store that does not know it
//     for long, as one brought back from a copy, is believed. Errors of the store
//     pass through, and nothing is kept of them.
//  3. Nothing that was read is kept if a change to that key may have been told of
//     since the read began, or if the watch was lost meanwhile. Changes are
//     counted in shards, so a change to another key may be in the way, and costs
//     one read. Nor is a value kept that is older than what was told of: a
//     replica of the store may lag behind.
//  4. What a watch tells of is believed when it has told of everything: until
//     then it may speak of what others have changed since.
//  5. Of one watch, a later revision takes the place of an earlier one and never
//     the reverse, whoever notes them. A deletion is a revision like any other.
//  6. What was deleted while there was no watch is not known any more when there
//     is one again.
//  7. When the watch is lost, nothing is kept, except for [Mirror.Known] where
//     that is asked for ([Config.Retain]).
//  8. Of any number of runners in a process one watches. When it ends, another
//     takes over.
//  9. No lock is held while the store is read.
package cache
