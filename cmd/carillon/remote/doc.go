// Package remote has the shared parts of commands that use a running scheduler: its address, job names, and
// operations on several jobs. An error of one job does not stop the others; an unreachable scheduler does.
package remote
