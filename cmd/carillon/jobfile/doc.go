// Package jobfile reads job files and applies them.
//
// A job file is JSON or YAML; a YAML file can contain several documents separated by "---". Each document is a
// job as in the API, with two more fields at its top:
//
//	name        job or collection/job. Default: the file's base name, if the document is the only one of its file
//	collection  the job is in it. Default: default
//
// A document with "kind: source" is a source of events. A document whose type is Microsoft.Scheduler/jobCollections is
// a collection, as the API shows it. Collections are applied before jobs. A list as the API returns it,
// {"value": […]}, counts as its elements.
//
// In every string, ${NAME} is replaced by the environment variable NAME if NAME begins with CARILLON_; $${…} is
// a literal ${…}. Other names, and a lone $, are unchanged. An unset variable is a problem.
//
// All problems are reported together. A file with an unreadable document (its syntax, its name, a variable) is
// skipped completely. Every other document is applied separately: if the scheduler refuses one, it stays
// unchanged and the others are still applied.
package jobfile
