// Package newjob is the page on which a job is made: a name, when it runs (package builder), what it does (package jobform),
// and what to do when that fails.
//
// Nothing that exists is overwritten. No secret that was typed comes back in a page: the script leaves what was typed where
// it is, and without scripts the page says that it has to be typed again.
package newjob
