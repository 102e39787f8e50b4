// Package listen opens the listeners of a process and reports their addresses. A listener uses the address of a
// flag; its error names the flag. A ports file reports the addresses to other programs: it appears atomically
// once everything runs, and disappears when the process ends.
package listen
