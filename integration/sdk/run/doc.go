// Run drives the emulators and the scheduler through clients that others wrote, each as its package manager gives it, and prints what
// each of them can do: a table of operations and clients.
//
//	go run ./integration/sdk/run                    # all clients
//	go run ./integration/sdk/run python rhea        # those with one of the words in their names
//	go run ./integration/sdk/run -json              # a line of JSON for each client and operation
//	go run ./integration/sdk/run -list              # the clients, and what each needs
//
// A client whose runtime or package is not on this machine is NOT RUN, and the reason is printed. The exit code is 1 when
// an operation failed, else 0.
//
// A suite is a program in the language of its client, in a folder beside this one. It finds the emulators in the
// environment (see [emulators.environment]), does each operation that the client has, and writes a line of JSON for each:
//
//	{"version": "7.8.2", "operation": "send", "result": "pass", "ms": 12.5}
//
// with result "pass", "fail" (and "error") or "not run" (and the reason as "error"). The line of an operation that sends
// messages one after the other has "msPerSend" too. Operations that a client does not have are left out. Every suite gets
// emulators of its own, in memory, on free ports, with the same entities; one of a client of the scheduler gets a scheduler of its
// own, which this source is built to ([scheduler.environment]).
package main
