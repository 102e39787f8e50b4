// Package printer prints the outcomes of jobs, one line per history record: time, job, outcome, lateness. A
// record looks the same whether it comes from the API or from this process. [Queue] prints in the background and
// never blocks the worker: it drops and counts the records that a slow terminal cannot keep up with.
package printer
