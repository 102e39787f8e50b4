// Package buckets stores values by name: job definitions, collections, secrets, tokens, operations, sources, listeners
// of triggers and the token ledger. [Buckets] is its only type. Writes use compare-and-set: a stale revision is
// scheduler.ErrConflict.
//
// Changes are announced over core NATS, which is at most once. A consumer would be lossless, but would make the server
// re-read a block after every write. A watch detects loss, because the sequences of a stream have no gaps. It ends when
// it misses a message, when its connection is lost, or when the stream, queried every 10 s, has a newer change:
//
//	write ──▶ bucket ──▶ carillon.changed.<bucket>.<name> (headers) ──▶ listener ──▶ watch reads the values
//
// A process whose NATS user cannot receive the announcements uses a consumer.
package buckets
