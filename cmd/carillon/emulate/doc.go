// Package emulate runs the emulators of Azure Service Bus and of storage queues: as `carillon emulate`, and for
// programs that have them inside, as `carillon dev`.
//
// Both run until they are closed, or one of them cannot go on, which its Close tells. With a data directory
// everything is there after the next start; one process at a time can use it. What is wrong with a flag or a file
// is told before anything starts, and names the flag, or the place in the file.
package emulate
