// Package jobfile reads job files and applies them.
//
// A job file is JSON or YAML; a YAML file may hold several documents separated
// by "---". Each document is a job as the API takes it, with two more members
// at its top:
//
//	name        job or collection/job; the file's base name when it is absent
//	            and the document is the only one of its file
//	collection  default when it is absent
//
// A document whose type is Microsoft.Scheduler/jobCollections is a collection,
// as the API shows it. Collections are applied before jobs.
//
// A list as the API returns it, {"value": […]}, stands for its elements.
//
// In every string, ${NAME} is replaced by that variable of the environment if
// NAME begins with CARILLON_; $${…} stands for ${…}. Other names, and a lone $,
// are left alone. A variable that is not set is a problem.
//
// Everything wrong is reported at once. A file in which a document cannot be
// read (its syntax, its name, a variable) is left out as a whole. Every other
// document is applied by itself: one that the scheduler refuses changes
// nothing, and does not keep the others from being applied.
package jobfile
