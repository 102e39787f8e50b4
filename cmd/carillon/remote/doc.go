// Package remote is what the commands have in common that ask a running scheduler: its address, the names of jobs,
// and doing one thing to each of several jobs. An error with one job does not keep the others from being dealt
// with; a scheduler that does not answer ends it.
package remote
