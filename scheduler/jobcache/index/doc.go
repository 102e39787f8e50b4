// Package index keeps in memory what searches ask about every job: its labels, its
// action's type and target, its state, its next and last run, and how that ended. It
// lists the jobs that may match a query, in order. The caller reads these in the
// store, which remains the only truth.
//
// [Index.Run] builds the index in the background from a snapshot and everything that was
// stored after it. Without a valid snapshot, it reads all definitions and batons, in the
// order in which they are stored. Later a watch announces each changed definition,
// which marks the job as dirty, and the refresh reads dirty jobs again: in bulk while
// they are many. Batons are not announced: a baton stays the same until it is due,
// unless its definition changes or a client runs the job. So the refresh reads new
// batons every few minutes, and a search reads the stale jobs on its page.
//
//	watch ──changed──▶ dirty ──read──▶ moved ──baton read──▶ clean
//
// # Snapshot
//
// Run writes a snapshot every half hour and when it ends; all processes share it. It names
// the revision, and the sequence of each lane, up to which the index knew everything. The
// store refuses a snapshot of streams that were replaced or have lost messages, and one
// so old that markers of later deletions may have expired. A loaded index knows what
// a new one would know. Exception: it notices a lost baton only when the job is due.
//
// # Guarantees
//
//  1. [Index.Current] reports whether the index has heard of every definition that was
//     stored before the call, and waits up to a second. It returns false while the
//     index is not built or is lost.
//  2. After that, [Index.Find] leaves out no matching job. Exception: while another
//     process runs a job manually, the index expects its planned run.
//  3. Find also returns stale jobs, which may not match. [Index.Refresh] reads these, a
//     bounded number, and the index keeps the result. [Index.Rank] counts the jobs of
//     which it knows too little: most of them have run since the index read them.
//  4. A read never replaces a change that was announced after the read began.
//  5. A lost watch loses the index: it forgets everything, and is built again.
//  6. The index holds no lock while it reads the store.
//
// # Memory
//
// A job takes 116 bytes with a name of 11 bytes, 160 at most, if it shares its labels and
// target with others. Jobs share equal labels and actions by
// [unique.Handle]; different ones take memory in addition. A bulk read holds one definition or baton
// at a time, and the store's messages in flight.
package index
