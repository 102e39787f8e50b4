// Package issuer verifies the tokens of an OpenID Connect issuer: JSON Web Tokens signed for this scheduler.
//
//	token ──► algorithm ──► key of the issuer ──► iss, aud, exp, nbf ──► rules ──► [auth.Principal]
//	                         cached, refreshed
//
// [Issuer.Verify] returns the owner of a token. Guarantees:
//
//  1. A token is valid if its signature is by a published key of the issuer, in an algorithm of [Algorithms]; its iss is the
//     issuer; its aud names this scheduler; and the time is between nbf and exp, within one minute. Unsigned
//     tokens, and tokens with symmetric keys, are always refused.
//  2. The caller's roles result from the rules and the token's claims. Other claims have no effect.
//  3. The scheduler fetches the location of the keys (OpenID Connect Discovery 1.0) and the keys with the first token, then
//     every hour. An unknown key causes an immediate fetch, at most every few seconds, so that tokens with random key ids
//     cannot cause a flood of requests.
//  4. If the issuer does not answer, its last known keys remain valid for a day.
package issuer
