// Package listen is about where the parts of a process listen: on the address of a flag, or an error that names the
// flag; and a ports file, which tells other programs. The file is there as a whole once everything runs, and gone
// when it does not.
package listen
