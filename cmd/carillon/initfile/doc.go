// Package initfile writes job files to start from: a valid job of any action type, with comments that explain
// the options.
package initfile
