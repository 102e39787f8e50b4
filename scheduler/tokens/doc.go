// Package tokens keeps the access tokens of a scheduler: who has one may do what its grants say (package access).
//
//  1. A token is shown once, when it is made. The store has its hash: who can read the bucket, or a copy of it, cannot
//     ask for anything with what is there.
//  2. It is known by its form, crl_<id>_<secret and checksum>, so that scanners find it where it does not belong, and one
//     that was cut off or mistyped is refused without asking the store.
//  3. A token that is revoked stops working at once in every process: each watches the bucket, and while it cannot, it
//     reads the token from the store at every request. A store that does not answer lets nobody in.
//  4. What is revoked or over stays in the bucket for a month, without its hash if it is revoked. The last token stays
//     for good: a scheduler that asks for tokens once there are any does not stop to when that one is revoked.
//
// The hash is SHA-256, one round and no salt: the secret is 256 random bits, which nobody finds by trying, however fast
// the hash; a slow one would only make requests slow.
package tokens
