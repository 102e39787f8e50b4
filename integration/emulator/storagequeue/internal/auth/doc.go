// Package auth verifies a request's signature and permissions: an account's key in the Authorization header
// (SharedKey, SharedKeyLite), or a signature in the URL made with the key, for an account or a queue (SAS).
//
//  1. Verify depends only on the request, the key, the stored access policies and the time; it has no state.
//  2. Signatures are compared in constant time, after all signed values were read from the request itself.
//  3. Permissions of a signature are checked only if it is valid, in the service's order: time, source, protocol, service,
//     resource type, permission.
//  4. The header takes precedence over the URL.
//
// Tokens of an identity provider and signatures with a user delegation key are not supported.
package auth
