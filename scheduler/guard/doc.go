// Package guard has what the HTTP interfaces, packages rest and console/frame, do with every request:
//
//	request ──► [Recorder] ──► [UnknownHost] ──► [Routes]: method ──► [Guard]: caller, rate, right ──► handler
//
// It guarantees:
//
//  1. The context of an admitted request has its caller ([auth.From]), who has the right to it.
//  2. It ends within seconds after the caller has lost the right.
//  3. A panic of a handler is logged, and becomes an answer or closes the connection; the process continues.
//
// The interfaces write all answers, also to errors.
package guard
