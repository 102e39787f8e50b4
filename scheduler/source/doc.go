// Package source defines sources: documents that say where events come from. A source is in a collection, like a job,
// and stores its events under its own name: the topic of the source c/n is c.n.
//
//	nats                    a core subject, or a stream of the user's NATS
//	webhook                 requests to POST /events/<collection>/<name>
//	serviceBusQueue         a queue of Azure Service Bus
//	serviceBusSubscription  a subscription of a topic of Azure Service Bus
//	storageQueue            a queue of Azure Storage
//
// A document has the fields of every source next to a field named after its type:
//
//	{"type": "webhook", "state": "enabled", "webhook": {"verify": {"type": "github", "secret": "…"}}}
//
// The package only reads, encodes and decodes. Receivers, which run sources, are elsewhere.
package source
