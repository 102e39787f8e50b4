// Package capacity estimates the resources for a number of jobs and runs: processes, processors, memory, disk and network. It
// also compares the load with the limits of the design. It does no I/O.
//
// The model multiplies a [Load] by measured costs, [Figures], which `go run ./integration/tool/bench` prints:
//
//	runs ──▶ cost at that rate × replicas ──▶ cores ──▶ NATS servers, `carillon serve` processes
//	jobs ──▶ bytes a job ──▶ memory, disk            runs ──▶ writes a second ──▶ lanes, limits
//
// It leaves 40 % of the processors idle, for peaks and for a process that fails. It ignores the limits of targets, the
// latency of disks, and the memory that NATS needs for a long history.
package capacity
