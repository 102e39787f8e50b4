// Package netreason says in a few words why an attempt got no answer from the
// network, in the same words for every type of action: "connection refused",
// "name not found: example.com", "TLS: certificate signed by unknown
// authority", "timed out after 60s".
//
// # What is guaranteed
//
//  1. A reason is one line of at most [Max] bytes of valid UTF-8 without
//     control characters, whatever a host or a library has put into an error.
//  2. The URL that [net/url.Error] tells, which may have a secret in it, is
//     never shown.
//  3. A reason depends on the error alone, and that of [Ended] on the context
//     and the times it is given: nothing is looked up or remembered.
//
// It says what went wrong, not what that means: whether a retry can help is
// the action's knowledge. What is particular to one protocol stays there too.
package netreason
