// Package pool keeps network connections that attempts share.
//
//	attempt ──Get(key)──▶ Lease ──Release()──▶ idle ──IdleTimeout──▶ closed
//	             │ miss: open one, for all callers
//	             │ full: close the longest idle one, or wait
//
// # Guarantees
//
//  1. The pool has one connection per key. The first caller opens it; concurrent callers wait for it. Opening continues
//     after the first caller's attempt has ended, because others may wait. [Conn] must limit its duration.
//  2. The pool keeps at most Max connections, including those being opened. To open another one, it closes a broken
//     connection, or else the longest idle one. While all are in use, attempts wait until one is released or their
//     context ends ([WaitError]). A connection being closed does not count.
//  3. The pool never closes a connection in use, neither to make space nor because of its age. A dropped connection
//     ([Lease.Drop], [Pool.Drop]) gets no new users and is closed after its last user has released it.
//  4. The pool closes a connection after IdleTimeout without use.
//  5. All callers that wait for a connection share the error of opening it. The error is not cached.
//  6. A connection in use that is older than RenewAfter gets a successor, and serves until the successor is open. The
//     pool never hands out a connection older than MaxAge.
//  7. When [Pool.Close] returns, all connections are closed and the pool has no goroutines. Callers of Get receive
//     [ErrClosed].
//
// Not guaranteed: the order of attempts that wait for a slot, and that a usable connection still works.
package pool
