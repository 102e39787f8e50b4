// Package guard is the middleware that the HTTP interfaces, packages rest and console/frame, share:
//
//	request ──► [Recorder] ──► [UnknownHost] ──► [Routes]: method ──► [Guard]: caller, rate, right ──► handler
//
// It guarantees:
//
//  1. The context of an admitted request contains its caller ([auth.From]), authorized for the operation.
//  2. It ends within seconds after the caller has lost the right.
//  3. A panic of a handler is logged, and becomes an answer or closes the connection; the process continues.
//
// The interfaces write all answers, including errors.
package guard
