// Package emulate runs the emulators of Azure Service Bus and of storage queues: for `carillon emulate`, and
// embedded in `carillon dev`.
//
// Both run until they are closed or one of them fails; Close returns the failure. With a data directory, all
// state survives a restart; only one process at a time can use the directory. Invalid flags and files are
// reported before anything starts, with the flag or the position in the file.
package emulate
