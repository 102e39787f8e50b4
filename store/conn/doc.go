// Package conn is the NATS connection that all stores share. It is the only package that publishes to streams, reads
// them directly and creates them. Only package store and the packages below it use [Conn]; [Config], [SettingError]
// and [Shuts] are for users of a store.
//
// It guarantees that a write that returns without an error is stored. A failed condition on the last sequence of a
// subject is scheduler.ErrConflict. A read in a cluster is repeated if the server that got it hangs.
//
//	New ──▶ Open: settings ──▶ OpenBucket, OpenQueue, Batched (each store) ──▶ Replicate ──▶ Start: failover, clock
//
//	publish   Publish (one message), Batcher (many appends that share a sync)
//	read      LastOf, Forward, DirectGet (batched direct gets), Each (listing of subjects), Scan, Follow
//	deliver   Pull: takes the messages of a queue, within the room that the caller has
//	time      Now: the clock of the server that leads the streams
//	health    Check: read-only and idle streams; Spread: balances the leaders of a cluster
package conn
