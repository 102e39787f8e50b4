// Command carillon is a job scheduler on NATS JetStream, and its command line.
//
// Each command is a struct of flags with a Run method, listed in the struct cli. Run receives its arguments by type: the
// context, the terminal, or a client of the scheduler's API. The file help.md of its folder has its help, with examples.
//
//	main ── run ── parse the line ──┬── serve, dev ──▶ node: a scheduler in this process
//	                                └── all others ──▶ client ──▶ REST or NATS API of a scheduler
//
// Results go to standard output, messages and logs to standard error. With --json a command prints one JSON document.
// Exit codes distinguish usage errors, missing objects, conflicts and unavailable services: see package terminal.
//
// Larger commands have a package below this one.
package main
