// Package importer makes jobs of what other schedulers have: crontabs, CronJobs of Kubernetes, resource templates of Azure
// Scheduler, rules and schedules of Amazon EventBridge, schedules of AWX and jobs of Obsidian Scheduler. It is pure: a
// source goes in, jobs and a report come out.
//
//  1. Nothing is changed silently. Each member of a source is translated or is named in the report: whoever reads one
//     marks it, and what nobody has marked is told.
//  2. An entry whose times cannot be said exactly is not translated at all, and the report says why.
//  3. What a source runs and Carillon cannot, a command, a pod, a class, becomes a request to a runner that the caller
//     names, with what is to be run in its body.
package importer
