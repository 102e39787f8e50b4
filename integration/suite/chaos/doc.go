// Package chaos tests the scheduler's guarantees under faults: the tests kill processes of the real binary, stop
// their NATS server and delete their data, while an HTTP server in the test records every call. The package
// contains only tests.
//
// After the faults they check:
//
//  1. Every due occurrence of every job has a record in the history. Each attempt has one record, or one per process that
//     made it, if these lost contact and both survived.
//  2. Every due window of every job has a distinct run, as in the Chronos test of Jepsen. Each other call is a duplicate: it
//     has the idempotency key of the call it repeats and comes from another process. Each killed process causes at most one
//     duplicate per job.
//  3. No job is without a baton, and none has two.
//  4. No call is early.
//  5. Every published spec has a result, and is accepted unless it alone crashes process after process.
//
// TestCluster does the same with a cluster of three NATS servers, and prints a table of how late jobs are.
// newTrio and trio.serveAt start such a system for other tests.
//
// The times of faults come from a seed, which every test prints; set it with -seed. The behavior of the
// processes is not reproducible. Sizes are those that the project guarantees; -short reduces them.
package chaos
