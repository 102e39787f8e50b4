// Package terminal is what every command has in common: where it reads and writes, and how it ends.
//
// What a command was asked for goes to standard output, all else to standard error, so that the output can be
// piped; with --json it is JSON. An error is a line "carillon: error: …", and where something can be done about it
// a line "carillon: hint: …" follows. The exit code tells scripts which kind of error it was.
//
// Other packages of the command make errors with [Usagef], [Unavailablef] and [Hinted]; [Terminal.Fail] prints them.
package terminal
