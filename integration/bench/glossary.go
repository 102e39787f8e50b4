package main

// term explains a figure.
type term struct{ name, meaning string }

// glossary explains every figure that a report can hold, in the order of the
// help.
var glossary = []term{
	{"register_s", "time to register all jobs, 256 at once; bare: to publish the schedules, 4,000 under way"},
	{"register_per_s", "registered in a second"},
	{"delivered_s", "herd: from the due instant to the arrival of the last call at the sink"},
	{"delivered_per_s", "calls that arrived in a second of that time"},
	{"late_p50_ms", "half of the calls arrived at most so long after they were due"},
	{"late_p90_ms", "nine in ten"},
	{"late_p99_ms", "ninety-nine in a hundred"},
	{"late_max_ms", "the latest of all"},
	{"settled_s", "from the due instant until the history holds a record of every call"},
	{"drained_s", "from the due instant until every job's end is stored and no baton is left"},
	{"unsettled", "missing records and ends of jobs, and batons that are left, when the patience ends; any makes the exit status 1"},
	{"surplus_records", "history records beyond one for each job, as after a write that was taken but reported as timed out"},
	{"occurrences", "due instants that were measured"},
	{"lost", "due instants that no call arrived for, also where a stall made the job skip them; any makes the exit status 1"},
	{"early", "calls that arrived before they were due; any makes the exit status 1"},
	{"stray", "calls whose key belongs to no planned instant, such as an occurrence run twice under two keys; any makes the exit status 1"},
	{"duplicated", "calls that repeat a key; a target can tell them by it"},
	{"cpu_us_per_job", "processor time of the whole process for each job, sink and all; herd: from 3 s before (bare: 1 s) to the end"},
	{"cpu_us_per_run", "processor time of the whole process for each occurrence of the measurement"},
	{"cpu_cores", "processors kept busy during the measurement"},
	{"allocs_per_job", "allocations for each job, in the same time"},
	{"alloc_kb_per_job", "memory allocated for each job, in KB of 1,000 bytes"},
	{"allocs_per_run", "allocations for each occurrence of the measurement"},
	{"alloc_kb_per_run", "memory allocated for each occurrence, in KB of 1,000 bytes"},
	{"other_cores", "processors that everything else on the machine, or its host, kept busy meanwhile: near zero, or the times say little"},
	{"stall_max_ms", "the most by which a goroutine overslept that sleeps 5 ms at a time: pauses of the machine and of the Go scheduler"},
	{"rss_mb", "resident memory of the process at the end, in MB of 1,000,000 bytes"},
	{"rss_peak_mb", "its greatest value since the part began, where the system can tell, and else of the process"},
	{"rss_idle_mb", "resident memory after -idle without work"},
	{"rss_idle_bytes_per_job", "the same divided by the jobs: everything in the process counts"},
	{"rss_gc_mb", "resident memory after a garbage collection that gives free memory back to the system"},
	{"rss_gc_bytes_per_job", "the same divided by the jobs"},
	{"heap_bytes_per_job", "live heap after that collection, divided by the jobs"},
	{"disk_bytes_per_job", "size of the data directory, divided by the jobs"},
	{"disk_mb", "size of the data directory, in MB of 1,000,000 bytes"},
	{"stop_s", "hold: time to stop the server, which writes its index"},
	{"server_s", "restart: until the server answers"},
	{"store_s", "restart: until the store is open, from the start"},
	{"ready_s", "restart: until a job put after it has called the sink, from the start"},
	{"audit_s", "time of an audit of all jobs, after that"},
	{"audit_findings", "jobs that the audit found wrong; any makes the exit status 1"},
	{"audit_failed", "1 when the audit ended with an error, which makes the exit status 1"},
	{"rss_restart_mb", "resident memory after the restart and the audit"},
	{"published_s", "register: until the server had stored all specs"},
	{"accepted_s", "register: until the results of all specs are stored, from the first publish"},
	{"accepted_per_s", "specs accepted in a second of that time"},
	{"rejected", "specs that were rejected, or whose result or baton is missing; any makes the exit status 1"},
	{"ns_per_op", "next: nanoseconds that one step takes"},
	{"allocs_per_op", "next: its allocations"},
	{"bytes_per_op", "next: bytes it allocates"},
	{"ratio", "bare delivered_s divided by Carillon's: 0.5 means half as fast as with no bookkeeping at all"},
}

// faulty are the figures that must be zero.
var faulty = []string{"lost", "early", "stray", "unsettled", "rejected", "audit_findings", "audit_failed"}
