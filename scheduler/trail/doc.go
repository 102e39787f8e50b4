// Package trail is the audit trail: who changed what, when, from where. An [Entry] is what it keeps of one change, and a
// [Store] where it is kept. It holds no values, only the places where something changed, so that no secret is in it.
//
// # Nothing is lost
//
// An entry is written when the change is stored, and before it is answered. A process may be killed in between, so each
// change leaves something from which its entry can be written later:
//
//   - The edit of a job stands in the job itself ([scheduler.Origin]). Whoever replaces or deletes one that was edited not
//     long ago makes sure of its entry first; and whoever looks after the trail compares the jobs that were written since
//     the last look with the entries. What is missing is written then, marked as rebuilt.
//   - Anything else is announced by an entry of its own, with the phase begun, before it is done. The entry of its end
//     follows, and names the one of its beginning. One without an end was cut short: it may have been done, or not.
//
// So of each change there is at least one entry; after a crash, or where a message was lost, there may be two.
//
// # Who asked
//
// By is what the scheduler or the NATS server has found out, and may be relied on. A Claim is what the caller said of
// itself, and is worth as much as the caller.
package trail
