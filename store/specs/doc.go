// Package specs delivers published job specs and publishes their results. [Specs] is its only type.
//
//	nats pub carillon.spec.<verb>.<collection>.<job> ──▶ DeliverSpecs ──▶ PublishResult ──▶ ack
//
// A spec is delivered to one process, and again if that process ends before it acknowledges. MarkSpec counts how often
// processes have started on a spec, so that one that ends its process is noticed. ClaimSpec gives an ID, such as a
// Nats-Msg-Id, to the first spec of its subject; later specs with the ID get the result of the first.
package specs
