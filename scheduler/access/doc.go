// Package access decides who may do what. It is pure: it knows neither HTTP nor NATS, holds no state, and is asked by
// whoever carries something out.
//
// A [Principal] is who asks, found out by whoever took the request: from a token, a client certificate, an issuer's
// token, or because nobody is asked for one. Its [Grant] values say which [Role] it has on which collections. Each
// operation needs a [Right]; [May] is the decision, and [Check] the same as an error that names what is missing.
//
//	role       on a collection                                   on all collections, besides
//	reader     sees it, its jobs and their history
//	operator   and puts, changes, deletes, runs, resubmits,
//	           enables and disables its jobs
//	admin      and makes, changes, enables, disables and         secrets, tokens, doctor, the whole audit log
//	           deletes the collection; its audit log
//
// What names no right is allowed to nobody.
package access
