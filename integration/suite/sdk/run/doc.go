// Command run tests the emulators and the scheduler with clients of other projects, as their package managers
// install them, and prints a table of operations and clients.
//
//	go run ./integration/suite/sdk/run                    # all clients
//	go run ./integration/suite/sdk/run python rhea        # those with one of the words in their names
//	go run ./integration/suite/sdk/run -json              # a line of JSON for each client and operation
//	go run ./integration/suite/sdk/run -list              # the clients, and what each needs
//
// A client whose runtime or package is missing on this machine is NOT RUN, with the reason. The exit code is 1
// if an operation failed, else 0.
//
// A suite is a program in the client's language, in a folder next to this one. It finds the emulators in the
// environment (see [emulators.environment]), runs each operation that the client supports, and writes a JSON
// line for each:
//
//	{"version": "7.8.2", "operation": "send", "result": "pass", "ms": 12.5}
//
// with result "pass", "fail" (and "error") or "not run" (and the reason as "error"). Operations that send
// messages one after the other also have "msPerSend". Unsupported operations are omitted. Every suite gets
// dedicated emulators, in memory, on free ports, with the same entities. A suite of a scheduler client gets a
// dedicated scheduler, built from this source ([scheduler.environment]).
package main
