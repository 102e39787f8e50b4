// Package chaos breaks whole systems and checks that they keep the scheduler's promises: real processes of the real
// binary are killed, their NATS server is stopped, their data is deleted, while an HTTP server in the test notes every
// call it gets. There is nothing here but tests.
//
// What is checked after the faults:
//
//  1. Every due occurrence of every job has a record in the history, and each attempt only one, or one for each of the
//     processes that made it, should these have lost each other and both live.
//  2. Every due window of every job is matched by a distinct run, as in the Chronos test of Jepsen. A call that is not
//     needed for that is a duplicate: it has the idempotency key of the call it repeats, comes from another process, and
//     each killed process leaves at most one for each job.
//  3. No job is without a baton, and none has two.
//  4. Nothing is called before it is due.
//  5. Every published spec has a result, and is accepted unless it alone ends process after process.
//
// TestCluster does so to a cluster of three NATS servers, and says how late jobs are: its result is a table. newTrio and
// trio.serveAt start such a system for other tests.
//
// Moments of faults are drawn from a seed, which every test prints; -seed sets it. What the processes do meanwhile is
// not repeatable. Sizes are those the project promises; -short makes them small.
package chaos
