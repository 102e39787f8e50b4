// Package audit defines the audit log: who changed what, when and from where. An [Entry] describes one change; a
// [Store] keeps the entries. An entry holds the paths that changed and no values, so it never contains a secret.
//
// # No change is lost
//
// The scheduler writes the entry after it has stored the change and before it answers the request. A crash can come in
// between, so every change leaves data from which the entry can be written later:
//
//   - A job edit is recorded in the job itself ([scheduler.Origin]). Before a process replaces or deletes a recently
//     edited job, it makes sure that the entry of that edit exists. A background check compares all jobs written since
//     its last run with the entries, and writes missing ones with Rebuilt set.
//   - Every other change is announced by a separate entry with phase [Begun]. The final entry has the sequence of the
//     announcement in its field Begun. An announcement without a final entry means that the change may or may not have
//     been made ([Interrupted]).
//
// Each change therefore has at least one entry. It may have two after a crash or a lost message.
//
// # Identity
//
// [By] is the identity that the scheduler or the NATS server has verified. Claim is the caller's unverified statement.
package audit
