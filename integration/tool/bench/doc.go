// Command bench measures Carillon in the shape of production: nats-server, `carillon serve` and the HTTP target of all jobs
// run as separate processes, on a fresh data directory, and bench loads them.
//
//	go run ./integration/tool/bench -scenario herd|steady|hold|restart|register|kill [-n N] [-against REV] [-json]
//	go run ./integration/tool/bench -capacity DIR
//
// -h explains the scenarios, the flags and every figure. The rules of a measurement:
//
//  1. No two jobs share a URL, a body or a definition. The target checks that each call carries the URL and body of its job.
//  2. The target measures lateness: from the instant in the Idempotency-Key to the arrival of the call.
//  3. Every call is accounted for. A due instant without a call is lost, a call before its instant is early, a call with a
//     known key is repeated, and a call that belongs to no instant is unexpected.
//  4. Costs are the processor time, allocations and memory of nats-server and `carillon serve`. The target and bench
//     itself use the same machine, and are reported but not added.
//  5. Compare ratios, not runs: a machine changes from minute to minute. -against measures another build of Carillon in
//     turn with this one, and the herd is also measured bare: JetStream schedules, a consumer and an HTTP client as wide as
//     Carillon's, without definitions, history and planning.
//
// One run of a scenario:
//
//	bench ──put jobs (NATS)──▶ nats-server ◀──▶ carillon serve ──HTTP──▶ target
//	  ▲                            │ counts of streams                      │ a line for each call
//	  └────────────────────────────┴────────────────────────────────────────┘
package main
