// Package capacity estimates what a number of jobs and runs needs: processes, processors, memory, disk and network, and how near
// the load comes to the limits of the design. It does no I/O.
//
// The model multiplies a [Load] by measured costs, [Figures], which `go run ./integration/tool/bench` prints:
//
//	runs ──▶ cost at that rate × replicas ──▶ cores ──▶ NATS servers, `carillon serve` processes
//	jobs ──▶ bytes a job ──▶ memory, disk            runs ──▶ writes a second ──▶ lanes, limits
//
// It leaves 40 % of the processors idle, for peaks and for a process that fails. It does not know what the targets bear, how
// long a disk takes to write, nor the memory that NATS needs for a long history.
package capacity
