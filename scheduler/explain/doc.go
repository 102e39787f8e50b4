// Package explain explains why a job ran at an instant, or did not. It is pure: a [Question] holds the time and all known
// facts, and [Explain] derives an [Answer]:
//
//	Question ──▶ history? ──no──▶ baton? ──no──▶ schedule? ──no──▶ unknown
//	                └───────────────┴────────────────┴──────────────┴──▶ Answer
//
// The history has precedence over the job's baton, and the baton over the schedule. Facts that none of them provides
// are reported as unknown.
package explain
