// Command bench measures Carillon: one process holds a NATS server on a fresh
// directory, the scheduler, and the HTTP sink that its jobs call.
//
//	go run ./integration/bench -scenario herd|deliver|steady|hold|register|next -n N [-rate R] [-json]
//
// -h explains the scenarios and every figure. What it prints holds:
//
//  1. Everything is included: the load generator, the sink, the server and its
//     files share the machine and the process with what is measured. No figure
//     is of a scheduler that had the machine for itself.
//  2. Lateness is measured by the sink, from the instant in the call's
//     Idempotency-Key to the call's arrival.
//  3. Every call is accounted for. A due instant without a call is lost, a call
//     before its instant is early, a call that repeats a key is duplicated, and
//     a call whose key belongs to no planned instant is stray. The exit status
//     is 1 when anything was lost, early or stray.
//  4. The herd's baseline runs in the same process after, or before, the same
//     number of jobs: JetStream schedules, a consumer, and an HTTP client as
//     wide as Carillon's, with nothing recorded and nothing planned.
package main
