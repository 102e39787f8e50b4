// Package jobs has the commands on jobs and on the records of their runs: they apply, show, edit, export, run, pause and delete
// jobs, and explain what ran.
package jobs
