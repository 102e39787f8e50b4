// Package identity authenticates the sender of an HTTP request.
//
//	credentials           caller
//	none required         full access, as long as [Config.Demand] requires none
//	Authorization         Bearer, with a token of this scheduler (package tokens) or of an issuer (package issuer)
//	client certificate    of an authority that the server trusts, if the request has no Authorization
//
// [Authenticator.Find] returns the caller as an [auth.Principal]. Guarantees:
//
//  1. Invalid credentials are refused and never treated as absent.
//  2. If the store or the issuer does not answer, the request is refused.
//  3. Guessing is rate-limited: an address that sends invalid tokens is soon refused without a lookup in the store. Tokens
//     that the process already knows continue to work from that address.
package identity
