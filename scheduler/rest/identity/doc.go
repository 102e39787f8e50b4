// Package identity finds out who sends a request over HTTP.
//
//		asked for nothing     while nothing says that somebody is to be asked ([Config.Demand]): anybody may do everything
//		Authorization         Bearer, with a token of this scheduler (package tokens) or of an issuer (package issuer)
//		client certificate    of those that the server trusts, when there is no Authorization
//
//	 1. What is given and not taken is refused, and never counts as if nothing had been given.
//	 2. A store or an issuer that does not answer lets nobody in.
//	 3. Guesses are bounded: an address that gives tokens which are not taken is soon told to wait, without a look at the
//	    store. Tokens that are known are taken from there all the same.
package identity
