// Package limits hands out the slots in which attempts run: so many at once in
// the process, so many to one target, and no more than a collection's rules for
// a target let through. A run that has to wait long for its target is deferred:
// handed back, to wait outside the process.
//
// # What is guaranteed
//
//  1. A slow or dead target takes no slots that others need. A target begins
//     with a few slots and earns one more with every quick answer and every
//     success, however long that took, so that one which answers nothing never
//     gets many. A target whose attempts take longer than a second is slow; all
//     slow targets together get at most half of the slots.
//  2. Free slots go to the targets that wait in turn, and the runs for one
//     target begin in the order in which they came, but for guarantee 4.
//  3. A collection's rule for a target holds beside that for the attempts of
//     its own jobs: they are a target of their own here. No more of them are in
//     flight than the rule's concurrency, and they begin evenly spread at its
//     rate, at most 20 ms ahead of it.
//  4. After so many attempts in a row that show the target in trouble its
//     circuit opens, and runs are deferred until one attempt has found out
//     that the target is back. A run that was deferred for as long as the rule
//     allows at most goes first, whatever the circuit.
//  5. A rule that is changed or taken back counts from the next review on, at
//     the latest.
//  6. A target without runs is forgotten when its rate lets the next attempt
//     begin, and ten minutes after its last failure.
//  7. No run is given a slot after Drain.
//
// Each process keeps the limits for itself: with n of them a target sees up to
// n times as much.
//
// # Parts
//
// [Limiter] has the lock, the one timer and the queues; it decides nothing. The
// decisions are those of a target on its slots, pacer and breaker, and of what
// to shed: values that are given the time.
package limits
