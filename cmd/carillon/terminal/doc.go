// Package terminal has the shared parts of all commands: their input, output and exit codes.
//
// Results go to standard output, everything else to standard error, so that the output can be piped; with --json
// it is JSON. An error is a line "carillon: error: …". A line "carillon: hint: …" with the fix follows if known.
// Scripts get the kind of error from the exit code.
//
// Other packages create errors with [Usagef], [Unavailablef] and [Hinted]; [Terminal.Fail] prints them.
package terminal
