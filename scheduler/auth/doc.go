// Package auth implements access control (RBAC). It is pure: it has no state and knows neither HTTP nor NATS. Its
// callers authenticate clients and carry out the operations.
//
//	request ──authenticated by the listener──▶ Principal with Grants ──May(right, collection)──▶ allowed or Denied
//
// A [Principal] is an authenticated client: an access token, a client certificate, a token of an OIDC issuer, or any
// client of a scheduler without authentication. Its [Grant] values assign a [Role] on collections. Each operation
// requires a [Right]. [May] decides; [Check] returns the decision as an error that names the missing role.
//
//	role       on a collection                                   on all collections, in addition
//	reader     view it, its jobs and their history
//	operator   and create, change, delete, run, resubmit,
//	           enable and disable its jobs
//	admin      and create, change, enable, disable and           secrets, tokens, doctor, shared views,
//	           delete the collection; its audit log              the whole audit log
//
// An operation without a right is denied to everyone.
package auth
