// Package tokens keeps the access tokens of a scheduler: who has one may do what its grants say (package access).
//
//  1. A token is shown once, when it is made. The store has its hash: who can read the bucket, or a copy of it, cannot
//     ask for anything with what is there.
//  2. It is known by its form, crl_<id>_<secret and checksum>, so that scanners find it where it does not belong, and one
//     that was cut off or mistyped is refused without asking the store.
//  3. A token that is revoked stops working at once in every process: each watches the bucket, and while it cannot, it
//     reads the token from the store at every request. A store that does not answer lets nobody in.
//  4. Damage to the bucket never opens a scheduler, and brings no revoked token back: a stored token has a MAC
//     (HMAC-SHA256) of all that it says. Its key is in another bucket, the ledger, together with the ids of revoked tokens.
//     The key says that tokens exist. A token that cannot be verified is refused.
//  5. A revoked or expired token stays in the bucket for a month, without its hash if it is revoked. The last token stays
//     permanently: a scheduler that asks for tokens once there are any does not stop to when that one is revoked.
//
// The hash is SHA-256, one round and no salt: the secret is 256 random bits, which nobody finds by trying, however fast
// the hash; a slow one would only make requests slow.
//
// The key of the MACs is random, and not derived from the keys of secrets: tokens work without such keys, survive their
// rotation, and operators make the first one on NATS, where they need no key file. Writers of all buckets can make tokens,
// and are operators.
package tokens
