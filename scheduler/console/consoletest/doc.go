// Package consoletest has what tests of the console's rooms share.
package consoletest
