// Package index knows of every job, in little memory, what searches ask for: its
// labels, the type of its action and what that is sent to, its state, when it runs
// next and ran last, and how that ended. It says which jobs may be among those that
// are looked for, and in which order. Whether they are, who searches
// reads in the store: the index is never the truth.
//
// # How it follows
//
// It is built at the start, in the background, by reading definitions and batons
// as they lie in the store, with rests in between. From then on it hears of every
// definition that is written or deleted, as the caches do, and reads it again: at
// once while somebody searches, and else when nothing has changed for a while, so
// that a herd that ends is not slowed down. What is much is not looked up: all that was
// written since is read as it lies in the store, in order and in bulk.
//
// Nobody tells of batons: that would be two messages for each run. But a baton
// stays as it is until it is due, unless its definition is edited or the job is
// run by hand. So what is known of one holds until then, and afterwards it is
// looked up when it matters to a search, and every few minutes.
//
// # Guarantees
//
//  1. [Index.Current] says that the index knows of every definition that was
//     stored before it was asked. Until it has been told of them it waits, and
//     while it is not ready, or was lost, it says no.
//  2. Then [Index.Find] leaves out no job that is among those that are looked for,
//     but for one that another process runs by hand, until that run has ended: its
//     next run is taken for the planned one.
//  3. It names others besides, whose knowledge is stale. [Index.Refresh] reads
//     these, a bounded number, and what it learns stays known.
//     [Index.Rank] tells of how many it knows too little, to count them or to say
//     where they belong: most are jobs whose time has come since they were looked up.
//  4. What was read never takes the place of what was told of since the reading
//     began.
//  5. A lost watch loses the index: it forgets everything, and is built again.
//  6. No lock is held while the store is read.
//
// # Memory
//
// A job takes 40 bytes and its name, in blocks without pointers, which the garbage
// collector does not look at. Sets of labels and targets are kept once, however many
// jobs have them. Reading in bulk holds no more than 512 definitions at a time, of 16 KB at
// most, and as many that are on their way: 16 MB; of batons, 32 MB, as they come.
package index
