// Package client calls a Carillon scheduler from Go. It puts, gets, lists and runs jobs, waits for their end, and reads
// and follows their history.
//
// The same [Client] uses either interface of the scheduler:
//
//	NewREST ──► http.RoundTripper ──► REST API
//	NewNATS ──► http.RoundTripper ──► micro service on NATS
//
// Both transports are an [net/http.RoundTripper], so that a program can wrap them. The micro service has no operation
// for [Client.Doctor], which returns an [UnsupportedError].
//
// # Errors
//
// Errors match the sentinels of package scheduler: [scheduler.ErrInvalid] with each problem and its path
// ([scheduler.ProblemsIn]), ErrNotFound, ErrConflict and ErrUnavailable. A failed condition also matches ErrConflict.
// An answer of the scheduler is an [Error]; a missing answer is an [UnreachableError], which matches ErrUnavailable.
//
// # Lists
//
// [Client.List] and [Client.History] fetch the next page after the caller has consumed the current one, and end with
// the first error. Concurrent changes neither hide nor repeat other entries.
//
// # Live tails
//
// [Client.Follow] survives lost connections and restarts of the scheduler. It resumes after the last received record,
// by its sequence in the history. It delivers each record exactly once while the history retains them. [Client.Wait]
// and [Client.WaitEnd] build on it.
package client
