// Package specs delivers published job specs and publishes their results. [Specs] is its only type.
//
//	nats pub carillon.spec.<verb>.<collection>.<job> ──▶ DeliverSpecs ──▶ PublishResult ──▶ ack
//
// A spec is delivered to one process, and again if that process ends before it acknowledges. MarkSpec counts the starts
// of its processing, which reveals a spec that crashes its process. ClaimSpec gives an ID, such as a
// Nats-Msg-Id, to the first spec of its subject; later specs with the ID get the result of the first.
package specs
