// Package engine runs the attempts of due batons. Any number of workers, in any number of processes, share the jobs of a
// store. No worker holds state that another one needs.
//
//  1. No action starts before the occurrence's nominal time plus its jitter.
//  2. A worker records an attempt, then passes its baton on, then acknowledges the baton's message. After a crash,
//     another worker continues from the last completed step. A job's last record ends the job: a worker writes the final
//     form of its definition in the background, or before the acknowledgment if the records do not show the end.
//  3. A worker checks the history before it runs a baton that may have run before.
//  4. Package scheduler makes all decisions about batons; the worker reads their inputs and executes them.
//  5. A worker holds no more batons than fit into its memory limit, and starts no more attempts than it has slots
//     (package limits).
//  6. Runs of a key that their trigger limits ([scheduler.Ledger]) enter a ledger before the first attempt, and leave it
//     before their counters are merged. A run that waits for others stays in its own slot: it starts when another one
//     leaves or, after a crash, when its timer fires. A ledger is written before the runs that it starts are fired.
//  7. On shutdown, a worker releases batons that have not started and completes the others.
//
// The lifecycle of a run is defined in life.go, with a type per stage:
//
//	received ──▶ held ──▶ admitted ──▶ attempted ──▶ recorded ──▶ passed
//	              │           │
//	              ▼           ▼
//	           crowded     deferred (both wait outside the process)
//
// # Failover
//
// A worker that is killed leaves its batons without an acknowledgment. Package store/failover detects its death, and the
// server delivers each baton to another worker, which continues from the history:
//
//	take     the baton was delivered before: its run is suspect
//	receive  search the history for a record of the attempt
//	           │
//	           ├── none                                  ──▶ held: the attempt runs, with the same idempotency key
//	           ├── none, but a later baton is stored     ──▶ acknowledge: the dead worker had passed it on
//	           ├── a record                              ──▶ [scheduler.Recover]: retry, next occurrence or end
//	           └── a record, and a later baton is stored ──▶ acknowledge
//
// A slow worker can finish an attempt that another one repeats. The store then rejects its move of the baton.
package engine
