// Package jobcache mirrors a bucket of the store in memory: a [Mirror] caches values by key, and a watch on the bucket
// invalidates or updates them.
//
//   - With [Config.Decode], the watch delivers values, and the mirror holds all of them. Use it for small buckets.
//   - Without it, the watch delivers invalidations, and the mirror caches what the process reads. Use it for large
//     buckets.
//
// # Guarantees
//
//  1. Peek answers only while a watch is live, with a value that was the latest when the watch last reported its key.
//     A process's own write is visible as soon as it is noted.
//  2. Current never returns a revision older than the one requested or reported. It reads the store if the mirror has
//     no newer value or no watch, and retries for 150 ms if the store lags behind. It then accepts the store's answer,
//     as the store may have been restored from a backup. It returns store errors and does not cache them.
//  3. The mirror does not keep a value if its key may have changed since the read began, if the watch was lost
//     meanwhile, or if a newer revision was reported (a replica may lag behind). Shards count the changes, so a change
//     to another key can cost one read.
//  4. The mirror relies on a watch once it has reported every value: before that, the reports may be outdated.
//  5. Within a watch, a later revision replaces an earlier one and never the reverse, in any order of calls.
//     A deletion is a revision like any other.
//  6. A new watch removes the values that were deleted while none was live.
//  7. A lost watch empties the mirror, except for [Mirror.Known] with [Config.Retain].
//  8. One runner per process watches. When it ends, another takes over.
//  9. The mirror holds no lock while it reads the store.
package jobcache
