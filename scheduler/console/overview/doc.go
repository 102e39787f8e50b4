// Package overview is the console's first page: current and upcoming runs, failures, and the state of the schedulers.
//
//	Source: Board (live statistics), Load ──┐
//	service: due jobs ──────────────────────┴──► look ──► page ──► live parts
//
// A caller with the right to read all collections sees the statistics of all schedulers. Other callers see the numbers of their
// collections, if available, and the current attempts of their jobs. Totals, names of targets, the schedulers and the
// result of consistency checks require the right to read all collections, as GET /metrics does.
package overview
