// Package worker runs the attempts of batons that become due. Any number of
// workers, in any number of processes, share the jobs of one store; none of them
// has a state that another would miss.
//
//  1. No action begins before the occurrence's nominal time plus its jitter.
//  2. An attempt is recorded before its baton is passed on, and the baton is
//     passed on before its message is acknowledged. Whoever dies in between is
//     followed by another worker that finds how far it got.
//     A job's last record is its end: its final form is written when there is leisure,
//     by whoever comes to it, and one that the records do not tell before its
//     message is acknowledged.
//  3. A baton that may have been run before is looked up in the history first.
//  4. What is decided about a baton is decided by package scheduler; a worker
//     reads what that takes, and carries it out.
//  5. A worker holds no more batons than it has room for, and calls no more
//     targets at once than it has slots (package limits).
//  6. A stop gives back what has not begun, and sees the rest to its end.
//
// The life of a run is written in life.go, with its stages as types; what each
// stage does is in a file of its name.
package worker
