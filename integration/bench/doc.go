// Command bench measures Carillon: a NATS server on a fresh directory, the
// scheduler, and the HTTP sink that its jobs call, in one process, or with
// -shape processes in one each, as users run them.
//
//	go run ./integration/bench -scenario herd|deliver|steady|hold|register|kill|profile|next -n N [-shape processes] [-json]
//	go run ./integration/bench -scenario api|search|console|history -n N [-json]
//
// -h explains the scenarios and every figure. What it prints holds:
//
//  1. Everything is included: the load generator, the sink, the server and its
//     files share the machine with what is measured, and in one process that
//     too. No figure is of a scheduler that had the machine for itself. Of
//     processes apart, the costs are those of nats-server and scheduler, whose
//     sum is told, and each one's beside it.
//  2. Lateness is measured by the sink, from the instant in the call's
//     Idempotency-Key to the call's arrival.
//  3. Every call is accounted for. A due instant without a call is lost, a call
//     before its instant is early, a call that repeats a key is duplicated, and
//     a call whose key belongs to no planned instant is stray. The exit status
//     is 1 when anything was lost, early or stray.
//  4. The herd's baseline runs in the same shape after, or before, the same
//     number of jobs: JetStream schedules, a consumer, and an HTTP client as
//     wide as Carillon's, with nothing recorded and nothing planned.
package main
