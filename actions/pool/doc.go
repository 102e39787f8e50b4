// Package pool keeps the network connections that attempts share.
//
//	attempt ──Get(key)──► Lease ──Release()──► idle ──IdleTimeout──► closed
//	             │ none yet: Open, once for all who ask
//	             │ Max are kept: the longest idle one makes room, or the attempt waits
//
// # What is guaranteed
//
//  1. There is one connection for each key. Of those who want it at once the
//     first has it opened, and the others wait for the same. An opening goes on
//     when the attempt that began it has ended, for the sake of the others; how
//     long it may take is for [Conn] to bound.
//  2. At most Max connections are kept, those that are being opened included. For
//     one more, a broken one goes, else the one that is idle for longest. While
//     all are in use, attempts wait until one is released or their context ends
//     ([WaitError]). One that is being closed does not count any more.
//  3. What is in use is not closed, neither for want of room nor for its age. One
//     that is taken from the pool ([Lease.Drop], [Pool.Drop]) is given to nobody
//     any more, and closed when its last user has released it.
//  4. One that nobody has used for IdleTimeout is closed.
//  5. An opening that fails is the failure of all who waited for it, and is not
//     remembered: the next attempt tries again.
//  6. With RenewAfter, a connection in use gets a successor when it is that old,
//     and goes on being used until that is open. With MaxAge, none is given to
//     anybody when it is older.
//  7. When [Pool.Close] returns, every connection is closed and no goroutine of
//     the pool is left. Who asks meanwhile or later gets [ErrClosed].
//
// Not guaranteed: who is first of those who wait for room, and that a connection
// still works which says that it is usable.
package pool
