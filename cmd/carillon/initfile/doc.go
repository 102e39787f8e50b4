// Package initfile writes job files for people to start from: a job of any action type, with comments that say what can be
// changed. What it writes is in order as it stands.
package initfile
