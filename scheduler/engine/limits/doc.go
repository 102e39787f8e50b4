// Package limits hands out the slots in which attempts run. It limits concurrent attempts per process and per target,
// and applies a collection's rules for a target. A run that would wait long for its target is deferred: it is returned
// to the caller and waits outside the process.
//
// # Guarantees
//
//  1. A slow or unresponsive target does not take slots from others. A target starts with a few slots and earns one
//     more with every fast response and every success, so an unresponsive target never gets many. A target whose
//     attempts take longer than a second is slow; all slow targets together get at most half of the slots.
//  2. Waiting targets receive free slots in round-robin order. Runs for one target start in order of arrival, except
//     under guarantee 4.
//  3. A collection's rule for a target applies in addition to the target's own limits. Here, the collection's attempts
//     to the target count as a separate target. They never exceed the rule's concurrency, and start evenly spaced at its
//     rate, at most 20 ms early.
//  4. The circuit breaker of a target opens after a number of consecutive failures. Runs are then deferred until a probe
//     succeeds. A run that has been deferred for the rule's maximum time goes first and ignores the circuit breaker.
//  5. A changed or removed rule takes effect at the next review or earlier.
//  6. A target without runs is forgotten once its rate allows the next attempt and ten minutes have passed since its
//     last failure.
//  7. No run receives a slot after Drain.
//
// Limits apply per process: with n processes, a target may receive n times as much.
//
// # Structure
//
// [Limiter] owns the lock, the timer and the queues, and makes no decisions. The decisions are pure functions of time:
// target combines slots, pacer and breaker, and shedding selects the runs to defer.
package limits
