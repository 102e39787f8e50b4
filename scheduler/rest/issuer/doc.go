// Package issuer takes the tokens of an OpenID Connect issuer: JSON web tokens that it has signed for this scheduler.
//
//  1. A token counts when its signature is by a key that the issuer publishes, in an algorithm of [Algorithms], its iss
//     is the issuer and its aud names this scheduler, and when it is not over (exp) or not good yet (nbf), give or take a
//     minute. None, and keys that both sides share, are never taken.
//  2. Who has it gets what the rules give to its claims; nothing else in it counts.
//  3. The issuer is asked for where its keys are (OpenID Connect Discovery 1.0) and for the keys when the first token
//     comes, then every hour, and at once for a key that is not known, but for that every few seconds at most: tokens
//     that name keys at random do not make this scheduler ask all the time.
//  4. While the issuer does not answer, the keys that it had go on to count for a day.
package issuer
