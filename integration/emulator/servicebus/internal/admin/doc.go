// Package admin has the HTTP interfaces of the Service Bus emulator.
//
// The first is the ATOM interface of Service Bus, which the administration
// clients of the SDKs use: queues, topics, subscriptions and rules can be made,
// read, changed, deleted and listed, and counted. Requests of it carry the query
// parameter api-version.
//
// The second is a small one in JSON, below /api, for people and scripts: it lists
// entities, looks at messages, purges, sends dead letters again, and orders
// faults. The third are /health and, for Prometheus, /metrics.
//
// Bodies are bounded, and answers to a list or a look at messages come in pages.
package admin
