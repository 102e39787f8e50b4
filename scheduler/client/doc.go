// Package client asks a Carillon scheduler from Go: it puts, gets, lists and runs
// jobs, waits for them to end, and reads and follows their history.
//
// There are two ways to a scheduler, with the same [Client] at their ends: its REST
// API ([NewREST]), and its micro service on NATS ([NewNATS]). What goes either way
// is an [net/http.RoundTripper], so a program may put its own before it. The micro
// service has no operation for [Client.Doctor]; it is refused with an
// [UnsupportedError].
//
// # Errors
//
// They match the sentinels of package scheduler, as those of the service behind the
// API do: [scheduler.ErrInvalid] with every problem and its path
// ([scheduler.ProblemsIn]), ErrNotFound, ErrConflict also for a condition that was
// not met, and ErrUnavailable also when nobody answers. What the scheduler said is
// an [Error], and that nobody answered an [UnreachableError].
//
// # Lists
//
// [Client.List] and [Client.History] fetch a page when the one before it was taken,
// and end with the first error. What is put, recorded or deleted meanwhile neither
// hides nor repeats another entry.
//
// # Live tails
//
// [Client.Follow] outlives connections and schedulers: it goes on after the last
// record that came, by its sequence in the history, so that none is missing and none
// comes twice while the history keeps them. [Client.Wait] and [Client.WaitEnd] stand
// on it.
package client
