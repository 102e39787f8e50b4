// Package consoletest runs a scheduler with its console on a dedicated NATS server, for the tests of the console's
// sections.
package consoletest
