// Package explain is `carillon explain`: it tells what a member of a job or a
// collection may be. What it tells comes from what reads these documents, and
// from the descriptions that the schemas have.
package explain
