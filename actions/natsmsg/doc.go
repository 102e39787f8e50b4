// Package natsmsg runs the actions of type NatsMessage: one NATS message per attempt, and a verdict on its delivery.
//
//	"action": {"type": "natsMessage", "natsMessage": {
//	  "mode": "publish",            or jetstream, or request
//	  "subject": "orders.new",
//	  "message": "…",               with template, envelope and cloudEvent as in all actions
//	  "headers": {"X-Shop": "north"},
//	  "replyTo": "orders.done",     publish only
//	  "expectStream": "ORDERS",     jetstream only
//	  "timeToLive": "PT1H",         jetstream only; the stream must allow it
//	  "servers": ["tls://nats.example.com"],
//	  "credentials": "…"            or token, or user with password
//	}}
//
// # Modes
//
// publish succeeds (status 202) once the server has accepted the message without a permissions error. Whether a
// subscriber exists is unknown.
//
// jetstream succeeds (201) once a stream has stored the message, and also (200) if it already has one with the same
// Nats-Msg-Id. A subject without a stream is a final 404 if the server reports that, and a 503 while a stream has no
// leader. Other refusals have JetStream's status; a message too large for a stream is a final 413.
//
// request succeeds (200) with the first response that has neither the error headers of a NATS micro service
// (Nats-Service-Error-Code, Nats-Service-Error) nor a Status of 400 or above. The beginning of the response is recorded.
// The attempt's status is the error code, or 500 if that is not an HTTP status; Retry-After in seconds is respected.
// Without a subscriber the attempt fails immediately with 503.
//
// # Message
//
// The scheduler adds these headers, unless the job sets them, in any letter case:
//
//	Nats-Msg-Id                   the same for every attempt of one action in one occurrence
//	Carillon-Job                  collection/job
//	Carillon-Occurrence           collection/job@nominal time
//	Carillon-Attempt              1 for the occurrence's first attempt
//	traceparent                   W3C trace context: one trace per occurrence, one span per attempt
//	tracestate                    of the trace that a manual run continues, if it has one
//	x-carillon-failed-…           of an errorAction: the failure (see payload.FailureFields)
//	Nats-Expected-Stream, -TTL    expectStream and timeToLive
//	content-type                  of a CloudEvent in structured mode
//	ce-…                          the attributes of a CloudEvent in binary mode
//
// Headers named like credentials ([document.IsCredential]) are write-only secrets. Any value can be
// {"secretRef": "name"}, a shared secret that is looked up for each attempt.
//
// Other headers that begin with Nats- are refused, because they instruct servers, for example to publish traces to any
// subject. CloudEvents follow the NATS protocol binding 1.0.3, whose binary mode equals HTTP's, with the data's type in
// ce-datacontenttype; version 1.0.2 predates NATS headers.
//
// # Guarantees
//
//  1. A message that the server refuses because of permissions fails the attempt immediately (403, final), in every mode
//     and with any number of concurrent messages. So does one larger than the server's limit (413, final).
//  2. A message on the scheduler's own connection, and its reply subject, never uses subjects of the scheduler (Prefix),
//     of a scheduler with the default prefix (carillon), of NATS (first token begins with $ or _), or outside Allow. This
//     is checked when a job is put and at each attempt, because settings change. Prefixes of other schedulers in the
//     account are unknown: Allow must exclude their subjects, or messages could change their jobs. The same applies to a
//     job's own connection to the same server or cluster, unless the server authenticates clients and the job has a user,
//     a token or credentials there.
//  3. An attempt fails when its connection breaks. Nothing is sent while the scheduler's connection is reconnecting. The
//     next attempt reopens a connection to a job's own servers.
//  4. An attempt ends with its context, and leaves nothing behind except the shared connection. [Client.Close] closes
//     those.
//  5. Connections to jobs' own servers are dialed through Guard, to the named servers in their order; servers that these
//     advertise are ignored. At most MaxConns are open; while all are in use, attempts wait. Certificates are verified.
//     Credentials are sent unencrypted only to a server without TLS whose URL is neither tls nor wss.
//  6. A job's own server can send lines and headers of at most 64 KiB, and messages of at most 8 MiB. Beyond that, this
//     package closes the connection before the client sees the data. On the scheduler's own connection, a response with
//     more headers fails the attempt (502).
//
// Not guaranteed: exactly-once delivery. A message whose acknowledgement was lost is sent again with the same
// Nats-Msg-Id, which a stream drops within its duplicate window (default: 2 minutes).
//
// # Circuit breaker
//
// The target of an action, which collection rules name, is nats on the scheduler's own connection, and host:port of the
// first of the job's own servers. Attempts that did not reach the target (because of a secret, a template, a refused
// subject or address, or because all connections were in use) do not count for its circuit breaker. A stream's
// responses about itself, such as that it is full, do not count either. On the scheduler's own connection, which all
// subjects share, responses and missing responders do not count; only a lost connection or an unaccepted message does.
package natsmsg
