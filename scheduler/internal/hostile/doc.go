// Package hostile supports tests that send malicious and malformed input to the scheduler's listeners, and then check
// that nothing was written.
//
// [Body] generates documents, valid ones and mutants, of every kind that the APIs accept. [Words] are values for fields
// and parameters that expect a word. [Streams] is a snapshot of the streams of a NATS server; [Written] compares two of
// them.
package hostile
