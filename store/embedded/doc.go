// Package embedded runs a NATS server with JetStream inside the process, on a
// data directory of its own: what `carillon dev` and tests store into.
//
// Guarantees:
//
//  1. A directory is used by one process at a time. An operating-system lock
//     holds it, which ends with the process however that ends, so a crash
//     leaves nothing to clean up.
//  2. [Start] returns once JetStream answers, or with the reason why it
//     cannot: [*PortError], [*DirError], [*InUseError] or [*StartError].
//  3. What a client was told is stored survives a killed process. It survives
//     a power cut when it is older than [Config] SyncInterval, or at once with
//     SyncAlways.
//  4. [Server.Close] returns when everything is written and the lock is free.
//
// The server has no accounts, passwords or TLS: whoever reaches Addr may do
// everything. It is meant for a loopback address, or none.
package embedded
