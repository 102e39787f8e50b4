// Package netreason explains in a few words why an attempt got no response from the network. All action types use the
// same words: "connection refused", "name not found: example.com", "TLS: certificate signed by unknown authority",
// "timed out after 60s".
//
// # Guarantees
//
//  1. A reason is one line of at most [Max] bytes of valid UTF-8 without control characters, for any text that a host or a
//     library has put into the error.
//  2. A reason never contains the URL of a [net/url.Error], which may hold a secret.
//  3. A reason depends only on the error; that of [Ended] on the context and the times it receives.
//
// The package does not decide whether a retry can help: that depends on the action. Protocol-specific errors are
// explained by the package of the protocol.
package netreason
