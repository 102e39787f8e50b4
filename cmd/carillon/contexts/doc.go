// Package contexts keeps a user's schedulers by name: address, token, and the default collection of job names.
// They are in one file, which only its owner can read.
//
//  1. A token is never printed, and is sent only to the server of its context.
//  2. A file with a token that others can read is refused.
//  3. The command line and the environment take precedence over a context.
package contexts
