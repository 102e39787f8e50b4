// Package printer prints what becomes of jobs, one line for each record of a history: when, the job, the outcome,
// how late it was. A line is the same whether the record came over the API or from this process. [Queue] prints
// beside the work and never holds it up: what a slow terminal cannot take is counted, and left out.
package printer
