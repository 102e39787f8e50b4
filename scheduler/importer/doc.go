// Package importer creates jobs from the formats of other schedulers: crontabs, Kubernetes CronJobs, Azure Scheduler
// resource templates, Amazon EventBridge rules and schedules, AWX schedules and Obsidian Scheduler jobs. It is pure:
//
//		source + Options ──▶ Result: jobs, and a report of everything that was not translated
//
//	 1. Every change is reported. Each field of a source is translated or named in the report: code that reads a field
//	    marks it, and unmarked fields are reported.
//	 2. An entry whose times cannot be expressed exactly is not translated, and the report states the reason.
//	 3. A command, pod or class, which Carillon cannot run, becomes a request to the caller's runner ([Options.Runner]),
//	    with the work in its body.
package importer
