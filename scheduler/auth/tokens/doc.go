// Package tokens issues, verifies and revokes the access tokens of a scheduler. A token grants the roles in its grants
// (package auth). [Keeper] does the work; [Token] is a token without its secret.
//
//	request ─▶ check form ─▶ cached hash ─▶ expiry, revocation ─▶ MAC and ledger ─▶ grants
//	               no store access │ bucket, only while the watch is down
//
// Guarantees:
//
//  1. A token is shown once, when it is created. The store has only its hash, so a reader of the bucket, or of a copy,
//     cannot send requests with it.
//  2. The form crl_<id>_<secret and checksum> lets secret scanners find leaked tokens, and lets the keeper reject a
//     truncated or mistyped token without a read.
//  3. A revoked token stops working immediately in every process: each process watches the bucket, and reads the token
//     from the store on every request while its watch is down. If the store does not answer, requests are refused.
//  4. Damage to the bucket never opens a scheduler and never restores a revoked token: each stored token carries an
//     HMAC-SHA256 of its content. The key and the ids of revoked tokens are stored in another bucket, the ledger. The
//     key also marks that tokens exist. A token that fails verification is refused.
//  5. A revoked or expired token stays in the bucket for 30 days, without its hash if it is revoked. The last token
//     stays permanently: a scheduler that requires tokens still requires them after its last token is revoked.
//
// The hash is one round of SHA-256 without salt: the secret has 256 random bits, so guessing is hopeless at any hash
// rate. A slow hash would only slow down requests.
//
// The MAC key is random and independent of the keys that seal secrets: tokens work without those keys and survive their
// rotation, and an operator can create the first token on NATS without a key file. A NATS user with write access to all
// buckets can create tokens, and is therefore an operator.
package tokens
