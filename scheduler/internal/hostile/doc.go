// Package hostile is for tests of the scheduler's doors: it has what nobody in their right mind sends, and sees whether
// anything was written because of it.
//
// [Body] draws documents, right ones and mutants of them, of every kind that the APIs read; [Words] are what else may stand in
// a place where a word is asked for. [Streams] tells what is in the streams of a NATS server, to compare it with what is in
// them later.
package hostile
