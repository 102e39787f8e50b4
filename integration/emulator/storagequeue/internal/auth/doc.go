// Package auth decides whether a request is signed and may do what it asks for: by an account's key in the Authorization header
// (SharedKey, SharedKeyLite), or by a signature in the URL that was made with the key for an account or for a queue (SAS).
//
//  1. Verify is a function of the request, the key, the stored access policies and the time; it has no state.
//  2. Signatures are compared in constant time, after everything that is signed was read from the request itself.
//  3. What a signature may do is looked at only when it is right, in the service's order: time, source, protocol, service,
//     resource type, permission.
//  4. The header counts before the URL when a request has both.
//
// There are no tokens of an identity provider and no signatures made with a user's delegation key.
package auth
