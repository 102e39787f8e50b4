// Package contexts keeps the schedulers that a user works with, each under a name: where it is, the token that is sent
// to it, and the collection that names of jobs are completed with. They are in one file, which only its owner can read.
//
//  1. A token is never printed, and goes to the server of its own context and to no other.
//  2. A file with a token that others can read is refused.
//  3. What is given on the command line, or in the environment, goes before what a context says.
package contexts
