// Package embedded runs a NATS server with JetStream in the process, on its own data directory. `carillon dev` and
// tests use it. [Start] returns a [Server]; [Server.Connect] opens a connection to it without a socket.
//
// Guarantees:
//
//  1. One process at a time uses a directory. An operating-system lock guards it and ends with the process, so a crash
//     leaves nothing to clean up.
//  2. [Start] returns when JetStream answers, or with the reason why it cannot: [*PortError], [*DirError],
//     [*InUseError] or [*StartError].
//  3. Acknowledged writes survive a killed process. They survive a power failure if they are older than
//     [Config.SyncInterval], or immediately with SyncAlways.
//  4. [Server.Close] returns when all data is written and the lock is released.
//
// The server has no accounts, passwords or TLS: anyone who can reach Addr has full access. Use a loopback address or no
// listener.
package embedded
